"""Gets a benchmark from its sources or from files of the user's, whole or not at all.

Downloads and what is made of them stand in a hidden folder beside the final one, which is renamed
when all is there. What is broken off goes on when it is run again.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import httpx2
from filelock import FileLock

from learnloop.data.catalog import Benchmark
from learnloop.data.given import Given
from learnloop.data.making import Making, Watch
from learnloop.data.manifest import Manifest, write_manifest
from learnloop.errors import DataError, FetchError
from learnloop.fetching import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What was got, and where to; `aside` is where an earlier folder was moved."""

    folder: Path
    manifest: Manifest
    aside: Path | None = None


def present(benchmark: Benchmark, root: Path) -> Path | None:
    """Return the file of the benchmark's stream, if one is there."""
    paths = (root / benchmark.name / stream for stream in benchmark.streams)
    return next((path for path in paths if path.is_file()), None)


def get(
    benchmark: Benchmark,
    *,
    root: Path,
    given: Path | None = None,
    watch: Watch | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> Got:
    """Get a benchmark into its folder in `root`. A folder that is there is moved aside.

    Raises:
        DataError: It could not be had whole; nothing has changed then.
        MissingExtraError: What reads the files is not installed.
    """
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / f".{benchmark.name}.lock"):
        making = Making(
            benchmark=benchmark,
            root=root,
            given=Given(path=given) if given else None,
            watch=watch or _unwatched,
            transport=transport,
        )
        try:
            manifest = making.make()
        except FetchError as error:
            raise DataError(
                f"{benchmark.name} could not be had: {error}. If you have its files, give them "
                f"with `learnloop data get {benchmark.name} --from PATH`, or set LEARNLOOP_DATA "
                f"to a folder that holds {benchmark.name}/"
            ) from error
        return _put_in_place(making, manifest)


def _put_in_place(making: Making, manifest: Manifest) -> Got:
    """Rename the folder that was made; one that is there is moved aside, never deleted."""
    write_manifest(making.folder, manifest)
    final = making.root / making.benchmark.name
    aside = None
    if final.exists():
        numbers = (f"{final.name}.old{number or ''}" for number in range(10_000))
        aside = next(making.root / name for name in numbers if not (making.root / name).exists())
        final.rename(aside)
    making.folder.rename(final)
    shutil.rmtree(making.staging)
    return Got(folder=final, manifest=manifest, aside=aside)


def _unwatched(what: str, total: int | None) -> Progress:
    return lambda done: None
