"""The only reader of the environment and of `learnloop.toml`; read once, into a frozen object."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

from learnloop.errors import ConfigError


class Settings(BaseModel):
    """What the machine and its user decide, apart from any run.

    Attributes:
        cache: Folder of models and data; `LEARNLOOP_CACHE`, else the user's cache folder.
        data: Folder of benchmark data; `LEARNLOOP_DATA`, else none.
        openai_api_key: `OPENAI_API_KEY`; never shown.
        lanes: Constant prompt prefixes that a local model keeps read; `LEARNLOOP_LANES`.
        ci: Whether `CI` is set to `true`: tests that would skip then fail.
    """

    model_config = ConfigDict(frozen=True)

    cache: Path
    data: Path | None = None
    openai_api_key: str | None = Field(default=None, repr=False)
    openai_base_url: str | None = None
    lanes: int | None = None
    ci: bool = False

    @property
    def models(self) -> Path:
        """Folder of model files."""
        return self.cache / "models"

    @property
    def benchmarks(self) -> Path:
        """Folder of the benchmarks, one folder each."""
        return self.data or self.cache / "data"


def read_settings() -> Settings:
    """Read the environment.

    Raises:
        ConfigError: `LEARNLOOP_LANES` is no whole number from 1 up.
    """
    data = os.environ.get("LEARNLOOP_DATA")
    cache = os.environ.get("LEARNLOOP_CACHE") or platformdirs.user_cache_dir("learnloop")
    return Settings(
        cache=Path(cache),
        data=Path(data) if data else None,
        openai_api_key=os.environ.get("OPENAI_API_KEY") or None,
        openai_base_url=os.environ.get("OPENAI_BASE_URL") or None,
        lanes=_count("LEARNLOOP_LANES"),
        ci=os.environ.get("CI", "").lower() == "true",
    )


def _count(variable: str) -> int | None:
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ConfigError(f"{variable} must be a whole number from 1 up, got {text!r}")
    return int(text)


def read_key(variable: str) -> str | None:
    """Return the key that a variable holds; `None` where it is not set or empty."""
    return os.environ.get(variable) or None


def let_native_threads_sleep() -> None:
    """Have OpenMP threads that wait sleep after a few turns; call before the library is loaded.

    Threads that spin on stop those of other processes on the same cores: on two busy cores the
    same call took ten times as long. Threads that sleep at once (`OMP_WAIT_POLICY=passive`) write
    a fifth less on an idle machine. Where the user has set either variable, it stays.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")


@contextmanager
def variables_for_import(**variables: str) -> Iterator[None]:
    """Set variables for a library that reads them when it is imported, and put them back after.

    Examples:
        >>> with variables_for_import(SOME_LIBRARY_LOGS="nowhere"):
        ...     pass
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
