"""The tables of one SQLite memory, and how older ones become newer; knows no scope by its text."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from learnloop.memory.sqlite_families import check_version, claim

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE {episodes} (
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
        """CREATE TABLE {feedback} (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            episode_id TEXT NOT NULL REFERENCES {episodes} (id),
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
        "CREATE INDEX {feedback}_by_episode ON {feedback} (episode_id, position)",
        *(
            f"CREATE TRIGGER {table}_no_{act} BEFORE {act} ON {table} "
            "BEGIN SELECT raise(ABORT, 'memory is append-only'); END"
            for table in ("{episodes}", "{feedback}")
            for act in ("UPDATE", "DELETE")
        ),
    ),
    (
        "ALTER TABLE {episodes} ADD COLUMN query_key TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE {episodes} ADD COLUMN rationale TEXT NOT NULL DEFAULT ''",
    ),
    ("ALTER TABLE {feedback} ADD COLUMN observed TEXT",),
)
"""What was done to the tables of every memory, oldest first. Only ever append."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The names of the tables of one memory; `number` is that of its scope, `None` without one."""

    episodes: str = "episodes"
    feedback: str = "feedback"
    number: int | None = None

    @classmethod
    def numbered(cls, number: int) -> Tables:
        """Return the tables of a scope."""
        return cls(
            episodes=f"memory_{number:d}_episodes",
            feedback=f"memory_{number:d}_feedback",
            number=number,
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the memory without a scope, inside the caller's transaction, to the newest version.

    Raises:
        StoreError: A newer learnloop made it, or the file is of another program.
    """
    claim(connection)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    check_version(version, known=len(MIGRATIONS))
    if version == 0:
        connection.execute(_STORE)
    change_tables(connection, Tables(), since=version)
    if version < len(MIGRATIONS):
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def change_tables(connection: sqlite3.Connection, tables: Tables, *, since: int) -> None:
    """Make the changes to the tables of a memory that it has not had yet."""
    for statements in MIGRATIONS[since:]:
        for statement in statements:
            connection.execute(_named(statement, tables))


def lift_triggers(connection: sqlite3.Connection, tables: Tables) -> tuple[str, ...]:
    """Drop the triggers that keep a memory append-only; return the statements that make them."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN (?, ?)",
        (tables.episodes, tables.feedback),
    ).fetchall()
    for name, _ in rows:
        connection.execute(f'DROP TRIGGER "{name}"')
    return tuple(statement for _, statement in rows)


def read_embedder(connection: sqlite3.Connection) -> tuple[str, int] | None:
    """Return the name and dimension of the embedder of the memory without a scope."""
    stored = dict(connection.execute("SELECT name, value FROM store"))
    there = "embedder_name" in stored
    return (stored["embedder_name"], int(stored["dimension"])) if there else None


def write_embedder(connection: sqlite3.Connection, name: str, dimension: int) -> None:
    """Keep the name and dimension of the embedder that a new memory is made with."""
    rows = (("embedder_name", name), ("dimension", str(dimension)))
    connection.executemany("INSERT INTO store (name, value) VALUES (?, ?)", rows)


def _named(statement: str, tables: Tables) -> str:
    return statement.format(episodes=tables.episodes, feedback=tables.feedback)


_STORE = """CREATE TABLE store (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT"""
"""What is kept about the memory without a scope: its embedder, and how often rows were erased."""
