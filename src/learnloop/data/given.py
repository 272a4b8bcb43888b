"""Finds what is wanted among files that the user already has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from learnloop.data.catalog import Benchmark, Download
from learnloop.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file or folder of the user's.

    It may be an archive, a folder of downloads, an unpacked archive, a copy of the hub's folder,
    or a folder in our own layout.
    """

    path: Path

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise DataError(f"there is no file or folder {str(self.path)!r}; give another --from")

    def layout(self, benchmark: Benchmark) -> Path | None:
        """Return the folder that holds the benchmark as we lay it out, if there is one."""
        for folder in (self.path / benchmark.name, self.path):
            if any((folder / stream).is_file() for stream in benchmark.streams):
                return folder
        return None

    def download(self, benchmark: Benchmark, wanted: Download) -> Path | None:
        """Return the file that is a download, if it is there."""
        if self.path.is_file():
            same = self.path.suffix == Path(wanted.name).suffix == ".zip"
            return self.path if same or _is(self.path, wanted, benchmark) else None
        found = self._files(Path(wanted.name).suffix)
        return next((path for path in found if _is(path, wanted, benchmark)), None)

    def databases(self, names: Collection[str]) -> dict[str, Path]:
        """Return the files of databases, where all of them are there; none otherwise."""
        if self.path.is_file():
            return {}
        return databases_in(self.path, names)

    def json_rows(self, name: str) -> Path | None:
        """Return a JSON file of rows by its name, if it is there."""
        if self.path.is_file() or not name:
            return None
        return next((path for path in self._files(".json") if path.name == name), None)

    def _files(self, suffix: str) -> list[Path]:
        return sorted(path for path in self.path.rglob(f"*{suffix}") if path.is_file())


def databases_in(folder: Path, names: Collection[str]) -> dict[str, Path]:
    """Return the files of databases somewhere in a folder, where all of them are there."""
    found = {
        path.stem: path
        for path in sorted(folder.rglob("*.sqlite"), reverse=True)
        if path.parent.name == path.stem and path.is_file()
    }
    return {name: found[name] for name in names} if set(names) <= set(found) else {}


def _is(path: Path, wanted: Download, benchmark: Benchmark) -> bool:
    tail = "/".join(wanted.url.partition("?")[0].split("/")[-2:])
    names = {wanted.name, f"{benchmark.name}{Path(wanted.name).suffix}"}
    return path.name in names or path.as_posix().endswith("/" + tail)
