"""Feedback as it came: each once, in the order of arrival, until it is learnt from and after."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from learnloop.errors import ConflictError, UnknownEpisodeError
from learnloop.memory.feedback_in_force import verdict
from learnloop.server.storage import inferences
from learnloop.server.storage.paging import NEWEST, Page, make_page
from learnloop.types import Feedback, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedFeedback:
    """Feedback on an inference, when it came, and when it was learnt from in full.

    `superseded_by` is the id of the newest feedback that replaces it.
    """

    feedback: Feedback
    tenant: str
    task: str
    received_at: str
    reflected_at: str | None = None
    superseded_by: str | None = None


def insert(
    connection: sqlite3.Connection, *, tenant: str, feedback: Feedback, received_at: str
) -> bool:
    """Keep feedback, and bring the verdict on its inference up to date; say whether it is new.

    The same content under the same id is the same feedback: nothing may be filled in that differs
    from one request to the next, such as the time.

    Raises:
        ConflictError: Other content is there under that id, or it supersedes feedback on another
            inference.
        UnknownEpisodeError: The tenant has no such inference.
    """
    content = _to_json(feedback)
    there = connection.execute(
        "SELECT content FROM feedback_log WHERE tenant = ? AND id = ?", (tenant, feedback.id)
    ).fetchone()
    if there is not None:
        if there[0] != content:
            raise ConflictError(
                f"other feedback is already there under the id {feedback.id!r}; give a revision an "
                "id of its own, and name the old one in `supersedes`"
            )
        return False
    _check_superseded(connection, tenant, feedback)
    connection.execute(
        "INSERT INTO feedback_log (tenant, id, target_id, task, content, received_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (
            tenant,
            feedback.id,
            feedback.target_id,
            _task_of(connection, tenant, feedback),
            content,
            received_at,
        ),
    )
    _judge(connection, tenant, feedback.target_id)
    return True


def get(connection: sqlite3.Connection, *, tenant: str, feedback_id: str) -> LoggedFeedback | None:
    """Return the feedback of an id."""
    row = connection.execute(f"{_SELECT} AND id = ?", (tenant, feedback_id)).fetchone()
    return None if row is None else _read(row)


def of_inference(
    connection: sqlite3.Connection, *, tenant: str, inference_id: str
) -> tuple[LoggedFeedback, ...]:
    """Return all feedback on an inference, newest first."""
    rows = connection.execute(
        f"{_SELECT} AND target_id = ? ORDER BY position DESC", (tenant, inference_id)
    )
    return tuple(_read(row) for row in rows)


def unreflected(
    connection: sqlite3.Connection, *, tenant: str, task: str, limit: int = 100
) -> tuple[LoggedFeedback, ...]:
    """Return the feedback of a task that is not yet learnt from in full, oldest first."""
    rows = connection.execute(
        f"{_SELECT} AND task = ? AND reflected_at IS NULL ORDER BY position LIMIT ?",
        (tenant, task, limit),
    )
    return tuple(_read(row) for row in rows)


def count_unreflected(connection: sqlite3.Connection, *, tenant: str, task: str) -> int:
    """Return how much feedback of a task is not yet learnt from in full."""
    counted = connection.execute(
        "SELECT COUNT(*) FROM feedback_log WHERE tenant = ? AND task = ? AND reflected_at IS NULL",
        (tenant, task),
    )
    return int(counted.fetchone()[0])


def waiting_tasks(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    """Return each tenant and task with feedback to learn from; for the worker alone."""
    rows = connection.execute(
        "SELECT DISTINCT tenant, task FROM feedback_log WHERE reflected_at IS NULL "
        "ORDER BY tenant, task"
    )
    return tuple((tenant, task) for tenant, task in rows)


def mark_reflected(
    connection: sqlite3.Connection, *, tenant: str, feedback_ids: Sequence[str], at: str
) -> int:
    """Note that feedback is learnt from in full; return how much of it was not so marked."""
    marked = 0
    for feedback_id in feedback_ids:
        marked += connection.execute(
            "UPDATE feedback_log SET reflected_at = ? "
            "WHERE tenant = ? AND id = ? AND reflected_at IS NULL",
            (at, tenant, feedback_id),
        ).rowcount
    return marked


def page(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    task: str | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> Page[LoggedFeedback]:
    """Return feedback, newest first."""
    rows = connection.execute(
        f"{_SELECT} AND (? IS NULL OR task = ?) AND position < ? ORDER BY position DESC LIMIT ?",
        (tenant, task, task, NEWEST if cursor is None else cursor, limit + 1),
    ).fetchall()
    return make_page(rows, limit=limit, read=_read)


def _check_superseded(connection: sqlite3.Connection, tenant: str, feedback: Feedback) -> None:
    old = feedback.supersedes and get(connection, tenant=tenant, feedback_id=feedback.supersedes)
    if old and old.feedback.target_id != feedback.target_id:
        raise ConflictError(
            f"feedback {feedback.id!r} is on {feedback.target_id!r}, but what it supersedes, "
            f"{feedback.supersedes!r}, is on {old.feedback.target_id!r}"
        )


def _task_of(connection: sqlite3.Connection, tenant: str, feedback: Feedback) -> str:
    found = connection.execute(
        "SELECT task FROM inferences WHERE tenant = ? AND id = ?", (tenant, feedback.target_id)
    ).fetchone()
    if found is None:
        raise UnknownEpisodeError(
            f"no inference {feedback.target_id!r}; give the id of the completion"
        )
    return str(found[0])


def _judge(connection: sqlite3.Connection, tenant: str, inference_id: str) -> None:
    logged = of_inference(connection, tenant=tenant, inference_id=inference_id)
    correct = verdict([each.feedback for each in reversed(logged)])
    inferences.judge(connection, tenant=tenant, inference_id=inference_id, correct=correct)


def _to_json(feedback: Feedback) -> str:
    return json.dumps(asdict(feedback), ensure_ascii=False, sort_keys=True)


def _read(row: tuple[Any, ...]) -> LoggedFeedback:
    _, tenant, task, content, received_at, reflected_at, superseded_by = row
    fields = json.loads(content)
    return LoggedFeedback(
        feedback=Feedback(**{**fields, "source": Source(**fields["source"])}),
        tenant=tenant,
        task=task,
        received_at=received_at,
        reflected_at=reflected_at,
        superseded_by=superseded_by,
    )


_SELECT = """
SELECT position, tenant, task, content, received_at, reflected_at, (
    SELECT newer.id FROM feedback_log AS newer
    WHERE newer.tenant = feedback_log.tenant AND newer.target_id = feedback_log.target_id
        AND newer.id != feedback_log.id
        AND json_extract(newer.content, '$.supersedes') = feedback_log.id
    ORDER BY newer.position DESC LIMIT 1
) FROM feedback_log WHERE tenant = ?"""
