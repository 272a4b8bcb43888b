"""Who did what: append-only."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from learnloop.server.storage.paging import NEWEST, Page, make_page


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One act. `actor` is a key's id, or `learner` or `command`; `detail` is for people."""

    at: str
    actor: str
    action: str
    target: str
    detail: str = ""


def record(connection: sqlite3.Connection, *, tenant: str, entry: AuditEntry) -> None:
    """Append an act, in the transaction that does it."""
    connection.execute(
        "INSERT INTO audit (tenant, at, actor, action, target, detail) VALUES (?, ?, ?, ?, ?, ?)",
        (tenant, entry.at, entry.actor, entry.action, entry.target, entry.detail),
    )


def page(
    connection: sqlite3.Connection, *, tenant: str, cursor: int | None = None, limit: int = 50
) -> Page[AuditEntry]:
    """Return acts, newest first."""
    rows = connection.execute(
        "SELECT position, at, actor, action, target, detail FROM audit "
        "WHERE tenant = ? AND position < ? ORDER BY position DESC LIMIT ?",
        (tenant, NEWEST if cursor is None else cursor, limit + 1),
    ).fetchall()
    return make_page(rows, limit=limit, read=_read)


def _read(row: tuple[int, str, str, str, str, str]) -> AuditEntry:
    _, at, actor, action, target, detail = row
    return AuditEntry(at=at, actor=actor, action=action, target=target, detail=detail)
