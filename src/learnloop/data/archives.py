"""Takes databases out of zip files that nobody vouches for.

Where a database goes is made of its name alone, which must be a plain one; the paths inside an
archive only say which member it is. So no member can be written elsewhere. What is no SQLite
database is refused, and so is more than `LIMIT` bytes in all.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from learnloop.data.catalog import Archive
from learnloop.data.rows import Row
from learnloop.errors import DataError
from learnloop.fetching import CHUNK, Progress

LIMIT = 16 << 30
"""Most bytes that are taken out of one archive. BIRD's databases are the largest: over 1 GB."""
ROWS_LIMIT = 256 << 20
"""Most bytes of a JSON file that is read into memory."""
MAGIC = b"SQLite format 3\x00"
ENCRYPTED = 0x1


def extract_databases(
    path: Path,
    archive: Archive,
    folder: Path,
    *,
    names: Collection[str],
    progress: Progress,
    limit: int = LIMIT,
) -> None:
    """Put databases into `folder`, each as `NAME/NAME.sqlite`.

    Raises:
        DataError: A name is not a plain one, one is missing, or the archive is not what it should
            be or too large.
    """
    for name in names:
        check_name(name)
    with _opened(path, archive.inner, limit) as opened:
        members = {name: _member(opened, name, archive.folders) for name in sorted(names)}
        _check_sizes(list(members.values()), folder, limit)
        for name, member in members.items():
            target = folder / name / f"{name}.sqlite"
            target.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(member) as source, target.open("wb") as file:
                _copy(source, file, progress)
            check_database(target)


def read_json_rows(path: Path, name: str) -> Sequence[Row]:
    """Return the rows of a JSON file in an archive.

    Raises:
        DataError: It is not there, or no list of rows.
    """
    with _opened(path, "", LIMIT) as opened:
        found = [m for m in opened.infolist() if PurePosixPath(m.filename).name == name]
        if not found:
            raise DataError(f"{path.name} holds no {name!r}")
        member = min(found, key=lambda m: len(m.filename))
        _check_member(member, ROWS_LIMIT)
        return rows_of_json(opened.read(member), member.filename)


def rows_of_json(text: bytes, name: str) -> Sequence[Row]:
    """Return the rows of a JSON text that is a list of them.

    Raises:
        DataError: It is none.
    """
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise DataError(f"{name!r} is not JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name!r} is no list of rows")
    return rows


def check_name(name: str) -> None:
    """Check that a database's name can be the name of a file.

    Raises:
        DataError: It cannot.

    Examples:
        >>> check_name("concert_singer")
        >>> check_name("../../etc/passwd")
        Traceback (most recent call last):
        learnloop.errors.DataError: not the name of a database: '../../etc/passwd'
    """
    if not re.fullmatch(r"\w[\w\- ]{0,99}", name, re.ASCII):
        raise DataError(f"not the name of a database: {name!r}")


def check_database(path: Path) -> None:
    """Check that a file begins as SQLite databases do.

    Raises:
        DataError: It does not.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise DataError(f"{path.name} is no SQLite database")


@contextmanager
def _opened(path: Path, inner: str, limit: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip file, or the one within it, and explain what zipfile says of a bad one."""
    try:
        with zipfile.ZipFile(path) as outer:
            found = [m for m in outer.infolist() if inner and _is_named(m, inner)]
            if not found:
                yield outer
                return
            _check_member(found[0], limit)
            with tempfile.TemporaryFile(dir=path.parent) as within:
                with outer.open(found[0]) as source:
                    shutil.copyfileobj(source, within, CHUNK)
                with zipfile.ZipFile(within) as opened:
                    yield opened
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DataError(f"{path.name} is no whole zip file: {error}") from error


def _is_named(member: zipfile.ZipInfo, name: str) -> bool:
    path = PurePosixPath(member.filename)
    return path.name == name and "__MACOSX" not in path.parts


def _member(opened: zipfile.ZipFile, name: str, folders: Sequence[str]) -> zipfile.ZipInfo:
    """Return the member that is a database, from the folder that is named first."""
    found = [
        member
        for member in opened.infolist()
        if _is_named(member, f"{name}.sqlite")
        and PurePosixPath(member.filename).parent.name == name
    ]
    if not found:
        raise DataError(
            f"the archive holds no database {name!r}; is it the right one? "
            f"A database is {name}/{name}.sqlite in any folder"
        )
    ranks = {folder: rank for rank, folder in enumerate(folders)}

    def rank(member: zipfile.ZipInfo) -> tuple[int, str]:
        within = PurePosixPath(member.filename).parent.parent.name
        return ranks.get(within, len(ranks)), member.filename

    return min(found, key=rank)


def _check_member(member: zipfile.ZipInfo, limit: int) -> None:
    if member.flag_bits & ENCRYPTED:
        raise DataError(f"{member.filename!r} is encrypted")
    if member.file_size > limit:
        raise DataError(f"{member.filename!r} is too large: {member.file_size:,} bytes")


def _check_sizes(members: Sequence[zipfile.ZipInfo], folder: Path, limit: int) -> None:
    for member in members:
        _check_member(member, limit)
    total = sum(member.file_size for member in members)
    if total > limit:
        raise DataError(f"the databases are too large: {total:,} bytes, at most {limit:,}")
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if total > free:
        raise DataError(
            f"the databases need {total / 1e9:.1f} GB of disk and {free / 1e9:.1f} GB are free"
        )


def _copy(source: IO[bytes], file: IO[bytes], progress: Progress) -> None:
    while chunk := source.read(CHUNK):
        file.write(chunk)
        progress(len(chunk))
