"""Finds the files of a benchmark and reads their rows; where they come from is for `data`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnloop.errors import DataError
from learnloop.settings import read_settings

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Where the files of one benchmark are: `LEARNLOOP_DATA`, else the user's cache.

    Attributes:
        benchmark: Its name, for example `spider`.
        path: The folder of its files.
    """

    benchmark: str
    path: Path

    def file(self, *names: str) -> Path:
        """Return the first of some files that is there.

        Raises:
            DataError: None is; it says how to get them.
        """
        for name in names:
            if (self.path / name).exists():
                return self.path / name
        wanted = " or ".join(repr(name) for name in names)
        raise DataError(
            f"no {wanted} in {str(self.path)!r}; get the data with "
            f"`learnloop data get {self.benchmark}`, or set LEARNLOOP_DATA to a folder that holds "
            f"{self.benchmark}/"
        )

    def rows(self, *names: str) -> Sequence[Row]:
        """Read the rows of the first of some JSON-lines files that is there.

        Raises:
            DataError: None is there, or a line is no JSON object.
        """
        path = self.file(*names)
        try:
            with path.open(encoding="utf-8") as lines:
                return [
                    _row(line, path=path, number=number)
                    for number, line in enumerate(lines, start=1)
                    if line.strip()
                ]
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {str(path)!r}: {error}; get the data again") from error


def _row(line: str, *, path: Path, number: int) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"line {number} of {str(path)!r} is no JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError(f"line {number} of {str(path)!r} must be an object, got {line[:60]!r}")
    return row


def find_folder(benchmark: str) -> Folder:
    """Return where the files of a benchmark are, or would be."""
    return Folder(benchmark=benchmark, path=read_settings().benchmarks / benchmark)
