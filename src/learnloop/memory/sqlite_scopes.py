"""Which scopes a file has: the number by which the tables of each are named, and their embedder.

A scope's text is a value in one table and never part of a statement, so that no query of one scope
can name the rows of another. Numbers are never given twice.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from learnloop.errors import ParameterError, StoreError
from learnloop.memory.sqlite_connection import connect, empty_log, transaction
from learnloop.memory.sqlite_families import check_version, claim, read_version, write_version
from learnloop.memory.sqlite_schema import (
    MIGRATIONS,
    Tables,
    change_tables,
    migrate,
    read_embedder,
    write_embedder,
)

FAMILY = "memory_scopes"
LONGEST_SCOPE = 200
REFUSED_CATEGORIES = {"Cc", "Cs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderKey:
    """What vectors can be compared with each other: those of one embedder and dimension."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The tables of a memory, and the embedder that it was made with."""

    tables: Tables
    embedder: EmbedderKey


def check_scope(scope: str) -> str:
    """Return a scope that is fit to be kept.

    Raises:
        ParameterError: It is empty, too long, or has control characters.

    Examples:
        >>> check_scope("acme.sql")
        'acme.sql'
    """
    bad = any(unicodedata.category(letter) in REFUSED_CATEGORIES for letter in scope)
    if bad or not 0 < len(scope) <= LONGEST_SCOPE:
        raise ParameterError(
            f"{scope!r} cannot be a scope; give 1 to {LONGEST_SCOPE} characters, none of them a "
            "control character"
        )
    return scope


def open_tables(connection: sqlite3.Connection, scope: str, embedder: EmbedderKey) -> Opened:
    """Make or update the tables of a scope (`""`: of none), inside the caller's transaction.

    Args:
        connection: Of the file.
        scope: A checked scope, or `""`.
        embedder: What they are made with where they are new.
    """
    return _open_scope(connection, scope, embedder) if scope else _open_bare(connection, embedder)


def drop_scope(path: Path | str, scope: str) -> bool:
    """Remove a scope with all its episodes from a file; `False` if it was not there.

    A store that has it open says so at its next call. What was there is written over.

    Raises:
        ParameterError: That cannot be a scope.
        StoreError: There is no such file, or it cannot be written.
    """
    check_scope(scope)
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"there is no store {str(path)!r}, so no scope can be dropped from it")
    connection = connect(path)
    try:
        with transaction(connection, path, "IMMEDIATE"):
            dropped = _drop(connection, scope)
        empty_log(connection, path)
        return dropped
    finally:
        connection.close()


def read_generation(connection: sqlite3.Connection, tables: Tables) -> int:
    """Return how often episodes were erased.

    Raises:
        StoreError: The scope was dropped.
    """
    if tables.number is None:
        row = connection.execute("SELECT value FROM store WHERE name = 'generation'").fetchone()
        return 0 if row is None else int(row[0])
    row = connection.execute(
        "SELECT generation FROM memory_scopes WHERE number = ?", (tables.number,)
    ).fetchone()
    if row is None:
        raise StoreError("the scope of the store was dropped; open a new store to begin again")
    return int(row[0])


def raise_generation(connection: sqlite3.Connection, tables: Tables) -> None:
    """Tell every index over a memory that episodes were erased."""
    if tables.number is None:
        connection.execute(
            "INSERT INTO store (name, value) VALUES ('generation', '1') ON CONFLICT (name) "
            "DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )
    else:
        connection.execute(
            "UPDATE memory_scopes SET generation = generation + 1 WHERE number = ?",
            (tables.number,),
        )


def _open_bare(connection: sqlite3.Connection, embedder: EmbedderKey) -> Opened:
    migrate(connection)
    there = read_embedder(connection)
    if there is None:
        write_embedder(connection, embedder.name, embedder.dimension)
        return Opened(tables=Tables(), embedder=embedder)
    name, dimension = there
    return Opened(tables=Tables(), embedder=EmbedderKey(name=name, dimension=dimension))


def _open_scope(connection: sqlite3.Connection, scope: str, embedder: EmbedderKey) -> Opened:
    _make_registry(connection)
    connection.execute(
        "INSERT INTO memory_scopes (scope, embedder_name, dimension, version, generation) "
        "VALUES (?, ?, ?, 0, 0) ON CONFLICT (scope) DO NOTHING",
        (scope, embedder.name, embedder.dimension),
    )
    number, name, dimension, version = connection.execute(
        "SELECT number, embedder_name, dimension, version FROM memory_scopes WHERE scope = ?",
        (scope,),
    ).fetchone()
    check_version(version, known=len(MIGRATIONS))
    tables = Tables.numbered(number)
    change_tables(connection, tables, since=version)
    if version < len(MIGRATIONS):
        connection.execute(
            "UPDATE memory_scopes SET version = ? WHERE number = ?", (len(MIGRATIONS), number)
        )
    return Opened(tables=tables, embedder=EmbedderKey(name=name, dimension=dimension))


def _make_registry(connection: sqlite3.Connection) -> None:
    claim(connection)
    version = read_version(connection, FAMILY)
    check_version(version, known=len(_REGISTRY))
    for statement in _REGISTRY[version:]:
        connection.execute(statement)
    if version < len(_REGISTRY):
        write_version(connection, FAMILY, len(_REGISTRY))


def _drop(connection: sqlite3.Connection, scope: str) -> bool:
    _make_registry(connection)
    row = connection.execute(
        "SELECT number FROM memory_scopes WHERE scope = ?", (scope,)
    ).fetchone()
    if row is None:
        return False
    tables = Tables.numbered(row[0])
    connection.execute(f"DROP TABLE {tables.feedback}")
    connection.execute(f"DROP TABLE {tables.episodes}")
    connection.execute("DELETE FROM memory_scopes WHERE number = ?", row)
    return True


_REGISTRY = (
    """CREATE TABLE memory_scopes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        scope TEXT NOT NULL UNIQUE,
        embedder_name TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        version INTEGER NOT NULL,
        generation INTEGER NOT NULL
    ) STRICT""",
)
"""The table of scopes and what was done to it, oldest first. Only ever append."""
