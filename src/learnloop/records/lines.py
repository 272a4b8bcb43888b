"""A file of lines that only grows: one fsync a line, a torn last line is cut away when opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

from learnloop.errors import RecordError


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
    """Appends lines to one file. A line that cannot be written whole is not there at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.lines = whole_lines(path.read_bytes()) if path.exists() else []
            self._size = sum(map(len, self.lines))
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._file, self._size)
        except OSError as error:
            raise RecordError(f"cannot open {str(path)!r} for writing: {error.strerror}") from error

    def append(self, line: bytes) -> None:
        """Write one line and wait until it is on the disk.

        Raises:
            RecordError: The disk is full, or the file went away; the lines before stay whole.
        """
        try:
            _write_all(self._file, line)
            os.fsync(self._file)
        except OSError as error:
            self._cut_back()
            raise RecordError(_FAILED.format(path=self.path, why=error.strerror)) from error
        self._size += len(line)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._file, self._size)
        except OSError:
            return  # The torn line is cut away when the file is next opened.


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
