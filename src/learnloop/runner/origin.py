"""Where a run was made: versions of packages, and the machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "learnloop",
    "numpy",
    "openai",
    "pydantic",
    "wordllama",
    "xllamacpp",
)


@cache
def packages() -> dict[str, str]:
    """Return the versions of the packages that a result may depend on, where installed."""
    return {name: found for name in PACKAGES if (found := _version(name)) is not None}


@cache
def machine() -> dict[str, str]:
    """Return what kind of machine this is. Its name and its user are nobody's business."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cpus": str(os.cpu_count()),
        "python": platform.python_version(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
