"""What SQL takes for today: the day of the data, so that a grade is the same on every day."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from learnloop.environments.graders.rows import Cell


def fix_today(connection: sqlite3.Connection, today: str, *, within: sqlite3.Connection) -> None:
    """Have `'now'`, the functions without a time, and `CURRENT_DATE` mean midnight of that day.

    Args:
        connection: Where the functions are put.
        today: The day, `YYYY-MM-DD`.
        within: An empty database to compute them in.
    """
    for name, place in _TIME_ARGUMENT.items():
        function = _of_that_day(name, place, today, within)
        connection.create_function(name, -1, function, deterministic=True)
    for name, value in _constants(today).items():
        connection.create_function(name, 0, _always(value), deterministic=True)


def _of_that_day(
    name: str, place: int, today: str, within: sqlite3.Connection
) -> Callable[..., Cell]:
    def compute(*arguments: Cell) -> Cell:
        given = list(arguments)
        if len(given) == place:
            given.append("now")
        if len(given) > place and str(given[place]).strip().lower() == "now":
            given[place] = f"{today} 00:00:00"
        places = ", ".join("?" * len(given))
        cell: Cell = within.execute(f"SELECT {name}({places})", given).fetchone()[0]
        return cell

    return compute


def _always(value: str) -> Callable[[], str]:
    return lambda: value


def _constants(today: str) -> dict[str, str]:
    return {
        "current_date": today,
        "current_time": "00:00:00",
        "current_timestamp": f"{today} 00:00:00",
    }


_TIME_ARGUMENT = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "strftime": 1}
"""Which argument is the time, by function."""
