"""Names that point at a version of a task's prompt, such as `production`; moved whole, or not."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from learnloop.errors import ConflictError, UnknownNameError
from learnloop.server.storage import prompt_versions

PRODUCTION = "production"
"""The label of the version in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Where a label is, and who moved it there. A pinned one is not moved by learning."""

    label: str
    version: int
    pinned: bool
    moved_at: str
    moved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a label is to go. `expected` is where it must be until then; `None`: anywhere."""

    label: str
    version: int
    by: str
    at: str
    expected: int | None = None


def get(connection: sqlite3.Connection, *, tenant: str, task: str, label: str) -> Label | None:
    """Return where a label is."""
    found = (each for each in list_of(connection, tenant=tenant, task=task) if each.label == label)
    return next(found, None)


def list_of(connection: sqlite3.Connection, *, tenant: str, task: str) -> tuple[Label, ...]:
    """Return the labels of a task by name."""
    rows = connection.execute(
        "SELECT label, version, pinned, moved_at, moved_by FROM labels "
        "WHERE tenant = ? AND task = ? ORDER BY label",
        (tenant, task),
    )
    return tuple(
        Label(label=name, version=version, pinned=bool(pinned), moved_at=at, moved_by=by)
        for name, version, pinned, at, by in rows
    )


def move(connection: sqlite3.Connection, *, tenant: str, task: str, to: Move) -> Label:
    """Move a label that is not pinned, or make it.

    Raises:
        ConflictError: It is pinned, or not where it was expected.
        UnknownNameError: There is no such version.
    """
    there = get(connection, tenant=tenant, task=task, label=to.label)
    if there is not None and there.pinned:
        raise ConflictError(
            f"label {to.label!r} of {task!r} is pinned to version {there.version}; unpin it first"
        )
    return _put(connection, tenant=tenant, task=task, to=to, pinned=False)


def pin(connection: sqlite3.Connection, *, tenant: str, task: str, to: Move) -> Label:
    """Move a label, pinned or not, and keep it there until it is unpinned.

    Raises:
        ConflictError: It is not where it was expected.
        UnknownNameError: There is no such version.
    """
    return _put(connection, tenant=tenant, task=task, to=to, pinned=True)


def unpin(connection: sqlite3.Connection, *, tenant: str, task: str, label: str) -> bool:
    """Let a label be moved again; say whether it was pinned."""
    done = connection.execute(
        "UPDATE labels SET pinned = 0 WHERE tenant = ? AND task = ? AND label = ? AND pinned = 1",
        (tenant, task, label),
    )
    return done.rowcount == 1


def _put(
    connection: sqlite3.Connection, *, tenant: str, task: str, to: Move, pinned: bool
) -> Label:
    there = get(connection, tenant=tenant, task=task, label=to.label)
    if to.expected is not None and (there is None or there.version != to.expected):
        raise ConflictError(
            f"label {to.label!r} of {task!r} is no longer at version {to.expected}; read it again"
        )
    known = prompt_versions.get(connection, tenant=tenant, task=task, version=to.version)
    if known is None:
        raise UnknownNameError(f"the prompt of {task!r} has no version {to.version}")
    connection.execute(
        "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)",
        (tenant, task, to.label, to.version, pinned, to.at, to.by),
    )
    return Label(label=to.label, version=to.version, pinned=pinned, moved_at=to.at, moved_by=to.by)
