"""What the in-memory index of a SQLite store must still take in; texts are left in the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from learnloop.memory.contents import in_force
from learnloop.memory.sqlite_rows import truth
from learnloop.protocols import Vectors
from learnloop.types import Feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRows:
    """Episodes as the index keeps them, oldest first; `given` are verdicts without feedback."""

    vectors: Vectors
    given: Sequence[bool | None]
    groups: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdicts:
    """Verdict by position of every episode with new feedback, and the newest feedback's place."""

    verdicts: Mapping[int, bool | None]
    newest: int


def select_vectors(
    connection: sqlite3.Connection, *, since: int, limit: int, dimension: int
) -> NewRows:
    """Read the episodes from one position on."""
    rows = connection.execute(
        "SELECT vector, given_correct, query_group FROM episodes WHERE position >= ? "
        "ORDER BY position LIMIT ?",
        (since, limit),
    ).fetchall()
    vectors = np.frombuffer(b"".join(row[0] for row in rows), dtype="<f4")
    return NewRows(
        vectors=vectors.reshape(-1, dimension),
        given=[truth(row[1]) for row in rows],
        groups=[row[2] for row in rows],
    )


def select_verdicts(connection: sqlite3.Connection, *, since: int) -> NewVerdicts:
    """Resolve anew all episodes that have feedback after one place."""
    newest = connection.execute("SELECT coalesce(max(position), 0) FROM feedback").fetchone()[0]
    rows = connection.execute(
        "SELECT episodes.position, given_correct, feedback.id, correct, supersedes "
        "FROM feedback JOIN episodes ON episodes.id = episode_id "
        "WHERE episode_id IN (SELECT episode_id FROM feedback WHERE position > ?) "
        "ORDER BY episodes.position, feedback.position",
        (since,),
    )
    verdicts: dict[int, bool | None] = {}
    for position, group in groupby(rows, key=lambda row: row[0]):
        said = list(group)
        feedback = tuple(_bare(*row[2:]) for row in said)
        verdicts[position] = in_force(truth(said[0][1]), feedback)
    return NewVerdicts(verdicts=verdicts, newest=newest)


def _bare(feedback_id: str, correct: int | None, supersedes: str | None) -> Feedback:
    return Feedback(id=feedback_id, target_id="", correct=truth(correct), supersedes=supersedes)
