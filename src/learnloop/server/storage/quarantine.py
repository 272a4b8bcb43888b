"""Learnt text that was refused, until a person releases or drops it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from learnloop.errors import ConflictError, UnknownNameError
from learnloop.server.storage.paging import NEWEST, Page, make_page

HeldStatus = Literal["held", "released", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One text that is kept from every model.

    `kind` says what it would have been (`bullet`, `prompt`, `comment`, `correction`, `example`),
    `reason` why it is here, `refs` are the ids it came from.
    """

    id: str
    task: str
    kind: str
    text: str
    reason: str
    created_at: str
    refs: tuple[str, ...] = ()
    status: HeldStatus = "held"
    decided_at: str | None = None
    decided_by: str | None = None


def hold(connection: sqlite3.Connection, *, tenant: str, held: Held) -> bool:
    """Put a text into quarantine; say whether it is new: the same text of a task is held once."""
    known = find(connection, tenant=tenant, task=held.task, text=held.text)
    if known is not None:
        return False
    connection.execute(
        "INSERT INTO quarantine (tenant, id, task, kind, text, reason, refs, status, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 'held', ?)",
        (
            tenant,
            held.id,
            held.task,
            held.kind,
            held.text,
            held.reason,
            json.dumps(held.refs),
            held.created_at,
        ),
    )
    return True


def find(connection: sqlite3.Connection, *, tenant: str, task: str, text: str) -> Held | None:
    """Return what is known of a text, also once it was decided on."""
    row = connection.execute(
        f"{_SELECT} AND task = ? AND text = ?", (tenant, task, text)
    ).fetchone()
    return None if row is None else _read(row)


def get(connection: sqlite3.Connection, *, tenant: str, held_id: str) -> Held | None:
    """Return the held text of an id."""
    row = connection.execute(f"{_SELECT} AND id = ?", (tenant, held_id)).fetchone()
    return None if row is None else _read(row)


def decide(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    held_id: str,
    status: Literal["released", "dropped"],
    by: str,
    at: str,
) -> Held:
    """Release or drop a text that is held.

    Raises:
        UnknownNameError: There is none of that id.
        ConflictError: Somebody has decided already.
    """
    there = get(connection, tenant=tenant, held_id=held_id)
    if there is None:
        raise UnknownNameError(f"nothing is held under the id {held_id!r}")
    if there.status != "held":
        raise ConflictError(f"{held_id!r} was {there.status} by {there.decided_by} already")
    connection.execute(
        "UPDATE quarantine SET status = ?, decided_by = ?, decided_at = ? "
        "WHERE tenant = ? AND id = ?",
        (status, by, at, tenant, held_id),
    )
    decided = get(connection, tenant=tenant, held_id=held_id)
    return there if decided is None else decided


def page(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    task: str | None = None,
    status: HeldStatus | None = "held",
    cursor: int | None = None,
    limit: int = 50,
) -> Page[Held]:
    """Return texts, newest first; those still held unless asked otherwise."""
    rows = connection.execute(
        f"{_SELECT} AND (? IS NULL OR task = ?) AND (? IS NULL OR status = ?) AND position < ? "
        "ORDER BY position DESC LIMIT ?",
        (tenant, task, task, status, status, NEWEST if cursor is None else cursor, limit + 1),
    ).fetchall()
    return make_page(rows, limit=limit, read=_read)


def _read(row: tuple[Any, ...]) -> Held:
    values = dict(zip(_COLUMNS, row[1:], strict=True))
    return Held(**{**values, "refs": tuple(json.loads(values["refs"]))})


_COLUMNS = (
    "id",
    "task",
    "kind",
    "text",
    "reason",
    "created_at",
    "refs",
    "status",
    "decided_at",
    "decided_by",
)

_SELECT = f"SELECT position, {', '.join(_COLUMNS)} FROM quarantine WHERE tenant = ?"
