"""Reads the fields of a row; where one is not what it must be, says which, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from learnloop.environments.rows import Folder, Row
from learnloop.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """One row of a file.

    Attributes:
        row: What stands in it.
        number: Its place among the rows of the file, from 1.
        file: The name of the file, with that of its benchmark.
    """

    row: Row
    number: int
    file: str

    @property
    def id(self) -> str:
        """The id that the row has, else its number."""
        own = self.row.get("id")
        return str(own if isinstance(own, str | int) else self.number)

    def text(self, field: str) -> str:
        """Return a field that must be text and not empty, without white space around it."""
        value = self.row.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self.error(field, "must be text")
        return value.strip()

    def texts(self, *path: str) -> list[str]:
        """Return a list of texts, which may stand in fields of fields."""
        value: object = self.row
        for field in path:
            value = value.get(field) if isinstance(value, dict) else None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(".".join(path), "must be a list of texts", value=value)
        return value

    def error(self, field: str, wanted: str, *, value: object = None) -> DataError:
        """Return the error that says what is wrong with a field."""
        got = repr(self.row.get(field) if value is None else value)
        return DataError(f"{self.file}, row {self.number}: {field} {wanted}, got {got[:80]}")


def read_fields(folder: Folder, *names: str) -> list[Fields]:
    """Read the rows of the first of some files that is there."""
    path = folder.file(*names)
    return [
        Fields(row=row, number=number, file=f"{folder.benchmark}/{path.name}")
        for number, row in enumerate(folder.rows(path.name), start=1)
    ]


def read_if_there(folder: Folder, *names: str) -> list[Fields]:
    """Read the rows of the first of some files that is there; none where none is."""
    there = [name for name in names if (folder.path / name).exists()]
    return read_fields(folder, *there[:1]) if there else []
