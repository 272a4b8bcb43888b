"""What a learner knows beside its memory; a newer state lands only on the one it was made from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from learnloop.errors import ConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerState:
    """The state of one task's learner. The first version is 1."""

    version: int
    state: Mapping[str, object]
    updated_at: str


def get(connection: sqlite3.Connection, *, tenant: str, task: str) -> LearnerState | None:
    """Return the state in force; `None` where nothing was ever learnt."""
    row = connection.execute(
        "SELECT version, state, updated_at FROM learner_states WHERE tenant = ? AND task = ?",
        (tenant, task),
    ).fetchone()
    if row is None:
        return None
    return LearnerState(version=row[0], state=json.loads(row[1]), updated_at=row[2])


def swap(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    task: str,
    expected: int,
    state: Mapping[str, object],
    at: str,
) -> int:
    """Put a state in the place of version `expected` (0: there was none); return its version.

    Raises:
        ConflictError: Another version is in force by now; nothing was changed.
    """
    text = json.dumps(state, ensure_ascii=False)
    if expected == 0:
        done = connection.execute(
            "INSERT OR IGNORE INTO learner_states VALUES (?, ?, 1, ?, ?)", (tenant, task, text, at)
        )
    else:
        done = connection.execute(
            "UPDATE learner_states SET version = version + 1, state = ?, updated_at = ? "
            "WHERE tenant = ? AND task = ? AND version = ?",
            (text, at, tenant, task, expected),
        )
    if done.rowcount != 1:
        raise ConflictError(
            f"the state of task {task!r} is no longer version {expected}; read it again"
        )
    return expected + 1
