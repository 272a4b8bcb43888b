"""SQL functions that work as long as they are told to, without a look at the clock, made to end."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

from learnloop.environments.graders.rows import Cell

MAX_CHARACTERS = 50_000
MAX_SET = 1_000

_WIDTHS = re.compile(r"%[-+ 0!,#]*(\d*)(?:\.(\d*))?")


def bound_functions(
    connection: sqlite3.Connection, *, within: sqlite3.Connection, longest: int = MAX_CHARACTERS
) -> None:
    """Put checked functions in the place of those that can outlast any deadline.

    `printf` repeats a character as often as it is told, and `trim` compares every character with
    every one of a set; SQLite cannot be interrupted in either. What asks for too much gets a text
    that is over the length limit; all else is computed by SQLite itself.

    Args:
        connection: Where the functions are put.
        within: An empty database to compute them in.
        longest: Most characters of a value in both.
    """

    def formats_too_much(*arguments: Cell) -> bool:
        return _formats_too_much(*arguments, longest=longest)

    for name in ("printf", "format"):
        function = _bounded(name, within, formats_too_much, longest)
        connection.create_function(name, -1, function, deterministic=True)
    for name in ("trim", "ltrim", "rtrim"):
        function = _bounded(name, within, _trims_too_much, longest)
        connection.create_function(name, 2, function, deterministic=True)


def _bounded(
    name: str, within: sqlite3.Connection, asks_too_much: Callable[..., bool], longest: int
) -> Callable[..., Cell]:
    def compute(*arguments: Cell) -> Cell:
        if asks_too_much(*arguments):
            return "x" * (longest + 1)
        places = ", ".join("?" * len(arguments))
        try:
            cell: Cell = within.execute(f"SELECT {name}({places})", arguments).fetchone()[0]
        except sqlite3.DataError:
            return "x" * (longest + 1)
        return cell

    return compute


def _formats_too_much(*arguments: Cell, longest: int) -> bool:
    text = str(arguments[0]) if arguments else ""
    if any(int(width or 0) > longest for pair in _WIDTHS.findall(text) for width in pair):
        return True
    numbers = [one for one in arguments[1:] if isinstance(one, int | float)]
    return "*" in text and any(abs(number) > longest for number in numbers)


def _trims_too_much(text: Cell, characters: Cell) -> bool:
    return isinstance(characters, str | bytes) and len(characters) > MAX_SET
