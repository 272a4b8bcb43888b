"""How a database file is known as learnloop's, and at which version each family of tables is.

Several families share one file: the memory without a scope, the scopes, the server's own. The first
counts in `user_version`, as it did when it was alone; every other one has a row.
"""

from __future__ import annotations

import sqlite3

from learnloop.errors import StoreError

APPLICATION_ID = 0x6C6C6F70
"""Marks a file as learnloop's: `llop` in ASCII."""


def claim(connection: sqlite3.Connection) -> None:
    """Mark a new or an older file, inside the caller's transaction, as learnloop's.

    Raises:
        StoreError: It is a database of another program.
    """
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark == APPLICATION_ID:
        return
    if mark or not (_is_empty(connection) or _is_older(connection)):
        raise StoreError("the file is a database of another program; give another path")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def read_version(connection: sqlite3.Connection, family: str) -> int:
    """Return how many migrations the tables of a family have had, 0 where there are none."""
    if not _has_table(connection, "schema_families"):
        return 0
    row = connection.execute(
        "SELECT version FROM schema_families WHERE family = ?", (family,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def write_version(connection: sqlite3.Connection, family: str, version: int) -> None:
    """Keep how many migrations the tables of a family have had."""
    connection.execute(_FAMILIES)
    connection.execute(
        "INSERT INTO schema_families (family, version) VALUES (?, ?) "
        "ON CONFLICT (family) DO UPDATE SET version = excluded.version",
        (family, version),
    )


def check_version(there: int, *, known: int) -> None:
    """Refuse tables that a newer learnloop made.

    Raises:
        StoreError: They are newer than what is known.
    """
    if there > known:
        raise StoreError(
            f"the store is of version {there}, this learnloop knows up to {known}; update learnloop"
        )


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _is_older(connection: sqlite3.Connection) -> bool:
    """Say whether it looks like a memory from before files were marked."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version > 0 and _has_table(connection, "store") and _has_table(connection, "episodes")


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    row = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)
    ).fetchone()
    return row is not None


_FAMILIES = """CREATE TABLE IF NOT EXISTS schema_families (
    family TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT"""
