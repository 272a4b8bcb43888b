"""A file of lines that only grows; a torn last line is cut away when it is opened again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal

from learnloop.errors import RecordError

PUT_ON_DISK: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Waits for the data and the size of a file, which is all that reading it back needs.

A whole fsync, which there is on every system, waits for the times of the file too.
"""


def whole_lines(data: bytes) -> list[bytes]:
    r"""Return the complete lines of a file, each with its newline, without a torn last one.

    A last line is torn where it has no newline, or is no JSON (a machine that lost its power may
    leave zeros).

    Examples:
        >>> whole_lines(b'{"a":1}\n{"a":')
        [b'{"a":1}\n']
    """
    *whole, rest = data.split(b"\n")
    lines = [line + b"\n" for line in whole] + ([rest] if rest else [])
    if lines and not _is_whole(lines[-1]):
        lines.pop()
    return lines


class LineFile:
    """Appends lines to one file. A line that cannot be written whole is not there at all.

    What a process wrote outlives it, however it ends; only a machine that loses its power loses
    what is not on the disk yet.

    Args:
        path: The file.
        sync: `behind` has the system put each line on the disk while the caller goes on, and
            waits for it before the next line: so all lines but the last are there. `at_close`
            waits once, at the end.
        put_on_disk: Waits until what was written to an open file is on the disk.
    """

    def __init__(
        self,
        path: Path,
        *,
        sync: Literal["behind", "at_close"] = "behind",
        put_on_disk: Callable[[int], None] = PUT_ON_DISK,
    ) -> None:
        self.path = path
        self.sync = sync
        self.put_on_disk = put_on_disk
        try:
            self.lines = whole_lines(path.read_bytes()) if path.exists() else []
            self._size = sum(map(len, self.lines))
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._file, self._size)
        except OSError as error:
            raise RecordError(f"cannot open {str(path)!r} for writing: {error.strerror}") from error
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._behind: Future[None] | None = None
        self._unsure = 0

    def append(self, line: bytes) -> None:
        """Write one line, once the one before is on the disk.

        Raises:
            RecordError: The disk is full, or the file went away; the lines before stay whole.
        """
        self.settle()
        try:
            _write_all(self._file, line)
        except OSError as error:
            raise self._failed(error) from error
        if self.sync == "behind":
            self._unsure = len(line)
            self._behind = self._pool.submit(self.put_on_disk, self._file)
        else:
            self._size += len(line)

    def settle(self) -> None:
        """Wait until every line is on the disk.

        Raises:
            RecordError: The last one could not be put there, and is not there at all.
        """
        behind, self._behind = self._behind, None
        if behind is None:
            return
        try:
            behind.result()
        except OSError as error:
            raise self._failed(error) from error
        self._size += self._unsure

    def close(self) -> None:
        """Let go of the file.

        Raises:
            RecordError: The last line could not be put on the disk.
        """
        try:
            self.settle()
            if self.sync == "at_close":
                with suppress(OSError):  # nobody waits for these lines
                    self.put_on_disk(self._file)
        finally:
            self._pool.shutdown()
            os.close(self._file)

    def _failed(self, error: OSError) -> RecordError:
        """Cut the file back to what is known to be whole, and say what happened."""
        with suppress(OSError):  # else a torn line is cut away when the file is next opened
            os.ftruncate(self._file, self._size)
        return RecordError(_FAILED.format(path=self.path, why=error.strerror))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file as a whole, so that a reader sees the old content or the new.

    Raises:
        RecordError: It cannot be written; the old content stays.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RecordError(_FAILED.format(path=path, why=error.strerror)) from error


def _write_all(file: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(file, rest) :]


def _is_whole(line: bytes) -> bool:
    if not line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


_FAILED = "cannot write {path}: {why}; all steps before this one are kept, free space and resume"
