"""One SQLite connection: how it is opened, written through, and how its failures are told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from learnloop.errors import StoreError, StoreLockedError

BUSY_MILLISECONDS = 1000
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
PRIMARY_CODE = 0xFF


def connect(path: Path) -> sqlite3.Connection:
    """Open a database file for this process's threads, in write-ahead mode.

    A commit survives the end of the process at any point. After a power cut the newest commits
    may be missing, and nothing is torn. What is deleted is written over.
    """
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        with told(path):
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
    except StoreError:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(
    connection: sqlite3.Connection, path: Path, kind: Literal["DEFERRED", "IMMEDIATE"]
) -> Iterator[None]:
    """Read one state of the file, or write all or nothing; roll back on any error."""
    with told(path):
        connection.execute(f"BEGIN {kind}")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def empty_log(connection: sqlite3.Connection, path: Path) -> None:
    """Move what was committed into the database file, so that its log keeps no older rows.

    Where somebody reads at that moment, the log is emptied when it is next full.
    """
    with told(path):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(error, path) from error
    except OSError as error:
        raise StoreError(
            f"the folder of the store {str(path)!r} cannot be used: {error.strerror}; "
            "give another path"
        ) from error


def _explain(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE
    place = f"the store {str(path)!r}"
    if code in LOCKED:
        return StoreLockedError(
            f"{place} is locked by another process; end that process, or give this one a store "
            "of its own"
        )
    reason = REASONS.get(code)
    return StoreError(f"{place} {reason}" if reason else f"{place} cannot be used: {error}")


REASONS = {
    sqlite3.SQLITE_FULL: (
        "cannot be written: the disk is full; nothing that was kept is lost, free some space and "
        "go on"
    ),
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk failed or is full; check it",
    sqlite3.SQLITE_READONLY: "cannot be written: it is read-only; change its permissions",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the path is a file that may be written",
    sqlite3.SQLITE_NOTADB: "is not a database; give another path",
    sqlite3.SQLITE_CORRUPT: "is damaged; put back a copy, or start a new store",
}
