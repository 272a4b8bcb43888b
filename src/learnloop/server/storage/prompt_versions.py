"""The versions of each task's prompt: numbered, and never changed."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from learnloop.errors import ConflictError
from learnloop.types import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVersion:
    """One version: its text, which one it was made from, and why.

    `cause` is for people (`initial`, `edit: ...`, `import`); `refs` are the ids of the evidence.
    """

    task: str
    version: int
    text: str
    parent: int | None
    cause: str
    refs: tuple[str, ...]
    created_at: str


def add(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    task: str,
    prompt: Prompt,
    cause: str,
    at: str,
    refs: tuple[str, ...] = (),
) -> bool:
    """Keep a version; say whether it is new.

    Raises:
        ConflictError: Another text is there under that number.
    """
    there = get(connection, tenant=tenant, task=task, version=prompt.version)
    if there is not None:
        if (there.text, there.parent) != (prompt.text, prompt.parent):
            raise ConflictError(
                f"version {prompt.version} of the prompt of {task!r} is there with another text; "
                "a version never changes, so make a new one"
            )
        return False
    connection.execute(
        "INSERT INTO prompt_versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            task,
            prompt.version,
            prompt.text,
            prompt.parent,
            cause,
            json.dumps(refs),
            at,
        ),
    )
    return True


def get(
    connection: sqlite3.Connection, *, tenant: str, task: str, version: int
) -> PromptVersion | None:
    """Return one version."""
    row = connection.execute(f"{_SELECT} AND version = ?", (tenant, task, version)).fetchone()
    return None if row is None else _read(row)


def list_of(
    connection: sqlite3.Connection, *, tenant: str, task: str, limit: int = 1000
) -> tuple[PromptVersion, ...]:
    """Return the versions of a task, newest first."""
    rows = connection.execute(f"{_SELECT} ORDER BY version DESC LIMIT ?", (tenant, task, limit))
    return tuple(_read(row) for row in rows)


def next_version(connection: sqlite3.Connection, *, tenant: str, task: str) -> int:
    """Return the number that a new version is to have; the first is 0."""
    newest = connection.execute(
        "SELECT MAX(version) FROM prompt_versions WHERE tenant = ? AND task = ?", (tenant, task)
    ).fetchone()[0]
    return 0 if newest is None else int(newest) + 1


def _read(row: tuple[Any, ...]) -> PromptVersion:
    task, version, text, parent, cause, refs, created_at = row
    return PromptVersion(
        task=task,
        version=version,
        text=text,
        parent=parent,
        cause=cause,
        refs=tuple(json.loads(refs)),
        created_at=created_at,
    )


_SELECT = """SELECT task, version, text, parent, cause, refs, created_at
FROM prompt_versions WHERE tenant = ? AND task = ?"""
