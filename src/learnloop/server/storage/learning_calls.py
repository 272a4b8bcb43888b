"""How many model calls learning has made for each task, ever."""

from __future__ import annotations

import sqlite3


def count(connection: sqlite3.Connection, *, tenant: str, task: str) -> int:
    """Return how many calls there were."""
    row = connection.execute(
        "SELECT calls FROM learning_calls WHERE tenant = ? AND task = ?", (tenant, task)
    ).fetchone()
    return 0 if row is None else int(row[0])


def add(connection: sqlite3.Connection, *, tenant: str, task: str) -> int:
    """Count one call more; return how many there are now."""
    row = connection.execute(
        "INSERT INTO learning_calls VALUES (?, ?, 1) "
        "ON CONFLICT (tenant, task) DO UPDATE SET calls = calls + 1 RETURNING calls",
        (tenant, task),
    ).fetchone()
    return int(row[0])
