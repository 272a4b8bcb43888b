"""The tables of the SQLite store, and how an older file becomes a newer one."""

from __future__ import annotations

import sqlite3

from learnloop.errors import StoreError

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE store (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE episodes (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            content_hash TEXT NOT NULL UNIQUE,
            query_id TEXT NOT NULL,
            query_text TEXT NOT NULL,
            query_context TEXT NOT NULL,
            query_group TEXT NOT NULL,
            answer TEXT NOT NULL,
            step INTEGER NOT NULL,
            source_kind TEXT NOT NULL,
            source_id TEXT NOT NULL,
            given_correct INTEGER CHECK (given_correct IN (0, 1)),
            vector BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE feedback (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            episode_id TEXT NOT NULL REFERENCES episodes (id),
            target_id TEXT NOT NULL,
            name TEXT NOT NULL,
            correct INTEGER CHECK (correct IN (0, 1)),
            value REAL,
            comment TEXT,
            correction TEXT,
            source_kind TEXT NOT NULL,
            source_id TEXT NOT NULL,
            confidence REAL,
            event_time TEXT,
            supersedes TEXT
        ) STRICT""",
        "CREATE INDEX feedback_by_episode ON feedback (episode_id, position)",
        *(
            f"CREATE TRIGGER {table}_no_{act} BEFORE {act} ON {table} "
            "BEGIN SELECT raise(ABORT, 'memory is append-only'); END"
            for table in ("episodes", "feedback")
            for act in ("UPDATE", "DELETE")
        ),
    ),
    (
        "ALTER TABLE episodes ADD COLUMN query_key TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE episodes ADD COLUMN rationale TEXT NOT NULL DEFAULT ''",
    ),
)
"""What was done to the tables, oldest first. Only ever append; `user_version` counts them."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file, inside the caller's transaction, to the newest version.

    Raises:
        StoreError: A newer learnloop made it.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the store is of version {version}, this learnloop knows up to {len(MIGRATIONS)}; "
            "update learnloop"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError("the file is a database of another program; give another path")
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    if version < len(MIGRATIONS):
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def read_embedder(connection: sqlite3.Connection) -> tuple[str, int] | None:
    """Return the name and dimension of the embedder that the file was made with."""
    stored = dict(connection.execute("SELECT name, value FROM store"))
    return (stored["embedder_name"], int(stored["dimension"])) if stored else None


def write_embedder(connection: sqlite3.Connection, name: str, dimension: int) -> None:
    """Keep the name and dimension of the embedder that a new file is made with."""
    rows = (("embedder_name", name), ("dimension", str(dimension)))
    connection.executemany("INSERT INTO store (name, value) VALUES (?, ?)", rows)
