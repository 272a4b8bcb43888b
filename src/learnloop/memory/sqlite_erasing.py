"""Removes episodes from a SQLite memory for good: the one exception to append-only."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from learnloop.memory.contents import CORRECTION
from learnloop.memory.sqlite_schema import Tables, lift_triggers
from learnloop.memory.sqlite_scopes import raise_generation


def erase_episodes(
    connection: sqlite3.Connection, tables: Tables, query_ids: Collection[str]
) -> int:
    """Delete episodes, their corrections and all feedback on them; return how many episodes.

    It runs inside the caller's transaction, at whose end memory is append-only again.
    """
    found = _select_ids(connection, tables, query_ids)
    if not found:
        return 0
    triggers = lift_triggers(connection, tables)
    rows = [(episode_id,) for episode_id in found]
    connection.executemany(f"DELETE FROM {tables.feedback} WHERE episode_id = ?", rows)
    connection.executemany(f"DELETE FROM {tables.episodes} WHERE id = ?", rows)
    for statement in triggers:
        connection.execute(statement)
    raise_generation(connection, tables)
    return len(found)


def _select_ids(
    connection: sqlite3.Connection, tables: Tables, query_ids: Collection[str]
) -> list[str]:
    found: dict[str, None] = {}
    for query_id in query_ids:
        first = query_id + CORRECTION
        rows = connection.execute(
            f"SELECT id FROM {tables.episodes} WHERE id IN (?1, ?2) "
            f"UNION ALL SELECT id FROM {tables.episodes} WHERE id >= ?2 || ':' AND id < ?2 || ';'",
            (query_id, first),
        )
        found.update(dict.fromkeys(row[0] for row in rows))
    return list(found)
