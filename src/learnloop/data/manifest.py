"""The note that lies beside a benchmark: what was fetched, what was made of it, byte for byte."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from learnloop.errors import DataError
from learnloop.fetching import file_sha256

NAME = "manifest.json"


class Source(BaseModel):
    """One file that was fetched or given.

    Attributes:
        url: Where it is published.
        bytes: Its size, as received.
        sha256: Its checksum, as received.
        published: Whether that is the checksum that was published; `None` where none was.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    bytes: int
    sha256: str
    published: bool | None = None


class File(BaseModel):
    """One file of the benchmark; `path` is relative to its folder, `rows` counts rows if any."""

    model_config = ConfigDict(frozen=True)

    path: str
    bytes: int
    sha256: str
    rows: int | None = None


class Manifest(BaseModel):
    """What lies in the folder of a benchmark.

    Attributes:
        benchmark: Its name.
        licence: Name of its licence.
        licence_url: Where the licence is.
        length: Queries of the published stream.
        rows: Rows of the stream that are here.
        sources: What it was made from.
        files: What it consists of.
        notes: What a reader of results should know of the rows.
    """

    model_config = ConfigDict(frozen=True)

    benchmark: str
    licence: str
    licence_url: str
    length: int
    rows: int
    sources: tuple[Source, ...]
    files: tuple[File, ...]
    notes: tuple[str, ...] = ()


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, `None` where there is none.

    Raises:
        DataError: It cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"cannot read {str(path)!r}: {where} {first['msg']}") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into a folder."""
    text = manifest.model_dump_json(indent=1, exclude_none=True)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def describe_file(folder: Path, path: Path, *, rows: int | None = None) -> File:
    """Return the entry of a file."""
    return File(
        path=path.relative_to(folder).as_posix(),
        bytes=path.stat().st_size,
        sha256=file_sha256(path),
        rows=rows,
    )


def changes(folder: Path, manifest: Manifest) -> list[str]:
    """Return a line for each file that is missing or holds other bytes than the manifest says."""
    lines = []
    for file in manifest.files:
        path = folder / file.path
        if not path.is_file():
            lines.append(f"{file.path} is missing")
        elif path.stat().st_size != file.bytes:
            lines.append(f"{file.path} has {path.stat().st_size:,} bytes, not {file.bytes:,}")
        elif (found := file_sha256(path)) != file.sha256:
            lines.append(f"{file.path} has the sha256 {found}, not {file.sha256}")
    return lines
