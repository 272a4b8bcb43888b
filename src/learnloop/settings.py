"""The only reader of the environment and of `learnloop.toml`; read once, into a frozen object."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict

SPINS = "1000"
"""Turns of a waiting loop: a few microseconds."""


class Settings(BaseModel):
    """What the machine and its user decide, apart from any run.

    Attributes:
        cache: Folder of models and data; `LEARNLOOP_CACHE`, else the user's cache folder.
        data: Folder of benchmark data; `LEARNLOOP_DATA`, else none.
        openai_api_key: `OPENAI_API_KEY`; never shown.
        ci: Whether `CI` is set to `true`: tests that would skip then fail.
    """

    model_config = ConfigDict(frozen=True)

    cache: Path
    data: Path | None = None
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    ci: bool = False

    @property
    def models(self) -> Path:
        """Folder of model files."""
        return self.cache / "models"


def read_settings() -> Settings:
    """Read the environment."""
    data = os.environ.get("LEARNLOOP_DATA")
    cache = os.environ.get("LEARNLOOP_CACHE") or platformdirs.user_cache_dir("learnloop")
    return Settings(
        cache=Path(cache),
        data=Path(data) if data else None,
        openai_api_key=os.environ.get("OPENAI_API_KEY") or None,
        openai_base_url=os.environ.get("OPENAI_BASE_URL") or None,
        ci=os.environ.get("CI", "").lower() == "true",
    )


def let_native_threads_sleep() -> None:
    """Have OpenMP threads that wait sleep instead of spin; call before the library is loaded.

    Spinning threads of two processes on the same cores stop each other: on two cores the same
    calls took six times as long. Where the user has set `OMP_WAIT_POLICY`, it stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def let_waiting_threads_sleep() -> None:
    """Let native threads that wait for each other give up the processor soon.

    By default they spin, which on a machine that does anything else makes a local model ten times
    slower; on an idle one it gains nothing. To be called before the native library is loaded. Who
    set either variable has decided otherwise.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
