"""Episodes and feedback as rows of the SQLite store, and back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from learnloop.memory.contents import Kept, given_verdict, in_force
from learnloop.memory.sqlite_schema import Tables
from learnloop.protocols import Vectors
from learnloop.types import Episode, Feedback, Query, Source

EPISODE_COLUMNS = (
    "id, query_id, query_text, query_context, query_group, answer, step, "
    "source_kind, source_id, given_correct, query_key, rationale"
)
FEEDBACK_COLUMNS = (
    "episode_id, id, target_id, name, correct, value, comment, correction, "
    "source_kind, source_id, confidence, event_time, supersedes, observed"
)
SELECTED_AT_ONCE = 500


def insert_episode(
    connection: sqlite3.Connection,
    tables: Tables,
    episode: Episode,
    vector: Vectors,
    *,
    digest: str,
) -> None:
    """Write one episode and its vector after all that are there, without its feedback."""
    query, source = episode.query, episode.source
    connection.execute(
        f"INSERT INTO {tables.episodes} (position, {EPISODE_COLUMNS}, content_hash, vector) "
        f"VALUES ((SELECT coalesce(max(position) + 1, 0) FROM {tables.episodes}), "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            episode.id,
            query.id,
            query.text,
            query.context,
            query.group,
            episode.answer,
            episode.step,
            source.kind,
            source.id,
            given_verdict(episode),
            query.key,
            episode.rationale,
            digest,
            vector.astype("<f4").tobytes(),
        ),
    )


def insert_feedback(
    connection: sqlite3.Connection, tables: Tables, episode_id: str, feedback: Feedback
) -> None:
    """Write one feedback after all that is there."""
    connection.execute(
        f"INSERT INTO {tables.feedback} ({FEEDBACK_COLUMNS}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            episode_id,
            feedback.id,
            feedback.target_id,
            feedback.name,
            feedback.correct,
            feedback.value,
            feedback.comment,
            feedback.correction,
            feedback.source.kind,
            feedback.source.id,
            feedback.confidence,
            feedback.event_time,
            feedback.supersedes,
            feedback.observed,
        ),
    )


def select_episodes(
    connection: sqlite3.Connection, tables: Tables, positions: Sequence[int]
) -> dict[int, Episode]:
    """Read the episodes at some positions, with their feedback and the verdict in force."""
    found: dict[int, Episode] = {}
    for start in range(0, len(positions), SELECTED_AT_ONCE):
        chosen = positions[start : start + SELECTED_AT_ONCE]
        rows = connection.execute(
            f"SELECT position, {EPISODE_COLUMNS} FROM {tables.episodes} "
            f"WHERE position IN ({_marks(chosen)})",
            chosen,
        ).fetchall()
        feedback = _select_feedback(connection, tables, [row[1] for row in rows])
        found.update((row[0], _episode(row, feedback.get(row[1], ()))) for row in rows)
    return found


def select_page(connection: sqlite3.Connection, tables: Tables, *, since: int) -> dict[int, Kept]:
    """Read the next few hundred episodes from one position on, oldest first."""
    rows = connection.execute(
        f"SELECT position, {EPISODE_COLUMNS} FROM {tables.episodes} "
        "WHERE position >= ? ORDER BY position LIMIT ?",
        (since, SELECTED_AT_ONCE),
    ).fetchall()
    feedback = _select_feedback(connection, tables, [row[1] for row in rows])
    return {
        row[0]: Kept(episode=_episode(row, feedback.get(row[1], ())), given=_given(row))
        for row in rows
    }


def select_position(connection: sqlite3.Connection, tables: Tables, episode_id: str) -> int | None:
    """Return where an episode stands in the order of age, `None` where there is none."""
    row = connection.execute(
        f"SELECT position FROM {tables.episodes} WHERE id = ?", (episode_id,)
    ).fetchone()
    return None if row is None else int(row[0])


def select_hash(connection: sqlite3.Connection, tables: Tables, episode_id: str) -> str | None:
    """Return the content hash of an episode, `None` where there is none."""
    row = connection.execute(
        f"SELECT content_hash FROM {tables.episodes} WHERE id = ?", (episode_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def select_target(connection: sqlite3.Connection, tables: Tables, feedback_id: str) -> str | None:
    """Return the id of the episode that a feedback is about, `None` where there is none."""
    row = connection.execute(
        f"SELECT episode_id FROM {tables.feedback} WHERE id = ?", (feedback_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def _select_feedback(
    connection: sqlite3.Connection, tables: Tables, episode_ids: Sequence[str]
) -> dict[str, tuple[Feedback, ...]]:
    rows = connection.execute(
        f"SELECT {FEEDBACK_COLUMNS} FROM {tables.feedback} "
        f"WHERE episode_id IN ({_marks(episode_ids)}) ORDER BY episode_id, position",
        episode_ids,
    )
    return {
        episode_id: tuple(_feedback(row) for row in group)
        for episode_id, group in groupby(rows, key=lambda row: row[0])
    }


def _episode(row: Sequence[Any], feedback: tuple[Feedback, ...]) -> Episode:
    _, id_, query_id, text, context, group, answer, step, kind, source_id, _, key, why = row
    return Episode(
        id=id_,
        query=Query(id=query_id, text=text, context=context, group=group, key=key),
        answer=answer,
        rationale=why,
        step=step,
        source=Source(kind=kind, id=source_id),
        correct=in_force(_given(row), feedback),
        feedback=feedback,
    )


def _feedback(row: Sequence[Any]) -> Feedback:
    return Feedback(
        id=row[1],
        target_id=row[2],
        name=row[3],
        correct=truth(row[4]),
        value=row[5],
        comment=row[6],
        correction=row[7],
        source=Source(kind=row[8], id=row[9]),
        confidence=row[10],
        event_time=row[11],
        supersedes=row[12],
        observed=row[13],
    )


def _given(row: Sequence[Any]) -> bool | None:
    return truth(row[10])


def truth(value: object) -> bool | None:
    """Read a verdict as SQLite stores it."""
    return None if value is None else bool(value)


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
