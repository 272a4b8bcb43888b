"""What was asked and answered: kept, found again by id, listed with filters."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from learnloop.errors import ConflictError, StoreError
from learnloop.server.storage.paging import NEWEST, Page, make_page
from learnloop.types import Bullet, Outcome, Policy, Usage

MemoryUse = Literal["used", "empty", "off", "control", "failed"]
Status = Literal["answered", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """One request of an application and what came of it.

    Attributes:
        query: Text of the last user message.
        answer: What the model said; a tool call as JSON; as far as it came where cancelled.
        memory: Whether what was learnt was shown: `used`, `empty` (nothing fitted), `off` (asked
            not to), `control` (the control group), `failed` (ours failed, the request went on).
        status: `failed`: the caller got the upstream's error; `cancelled`: the caller hung up.
        error: Why it failed, or why memory did.
        messages: The caller's messages as JSON text, where the task keeps them; lists leave it out.
        examples: Ids of the episodes shown.
        evidence: Ids of the episodes that the policy came from.
        policy: The policy shown.
        usage: Tokens, cost, and the seconds that the caller waited.
        correct: What the feedback in force says; kept up to date by the feedback log.
    """

    id: str
    tenant: str
    task: str
    created_at: str
    query: str
    answer: str = ""
    model: str = ""
    memory: MemoryUse = "empty"
    status: Status = "answered"
    error: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    messages: str | None = None
    examples: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    policy: Policy | None = None
    prompt_version: int | None = None
    group: str = ""
    user: str = ""
    correct: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which inferences a list is to hold; what is `None` does not matter.

    Attributes:
        since: ISO 8601, included.
        until: ISO 8601, left out.
        text: Occurs in the query or the answer.
    """

    task: str | None = None
    outcome: Outcome | None = None
    memory: MemoryUse | None = None
    status: Status | None = None
    model: str | None = None
    group: str | None = None
    user: str | None = None
    prompt_version: int | None = None
    since: str | None = None
    until: str | None = None
    text: str | None = None


def insert(connection: sqlite3.Connection, *, tenant: str, inference: Inference) -> None:
    """Keep an inference.

    Raises:
        ConflictError: There is one of that id.
        StoreError: It is another tenant's.
    """
    if inference.tenant != tenant:
        raise StoreError(f"inference {inference.id!r} is not of tenant {tenant!r}")
    if get(connection, tenant=tenant, inference_id=inference.id) is not None:
        raise ConflictError(f"there is an inference {inference.id!r} already")
    marks = ", ".join("?" * len(_COLUMNS))
    connection.execute(
        f"INSERT INTO inferences ({', '.join(_COLUMNS)}) VALUES ({marks})", _row(inference)
    )


def get(connection: sqlite3.Connection, *, tenant: str, inference_id: str) -> Inference | None:
    """Return the inference of an id with its messages."""
    row = connection.execute(
        f"SELECT position, {', '.join(_COLUMNS)} FROM inferences WHERE tenant = ? AND id = ?",
        (tenant, inference_id),
    ).fetchone()
    return None if row is None else _read(row)


def page(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    wanted: Wanted | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> Page[Inference]:
    """Return inferences, newest first, without their messages."""
    conditions, values = _conditions(Wanted() if wanted is None else wanted)
    shown = ", ".join("NULL" if name == "messages" else name for name in _COLUMNS)
    rows = connection.execute(
        f"SELECT position, {shown} FROM inferences "
        f"WHERE tenant = ? AND position < ?{conditions} ORDER BY position DESC LIMIT ?",
        (tenant, NEWEST if cursor is None else cursor, *values, limit + 1),
    ).fetchall()
    return make_page(rows, limit=limit, read=_read)


def count(connection: sqlite3.Connection, *, tenant: str, wanted: Wanted | None = None) -> int:
    """Return how many there are."""
    conditions, values = _conditions(Wanted() if wanted is None else wanted)
    counted = connection.execute(
        f"SELECT COUNT(*) FROM inferences WHERE tenant = ?{conditions}", (tenant, *values)
    )
    return int(counted.fetchone()[0])


def judge(
    connection: sqlite3.Connection, *, tenant: str, inference_id: str, correct: bool | None
) -> None:
    """Keep what the feedback in force says; for the feedback log alone."""
    connection.execute(
        "UPDATE inferences SET correct = ? WHERE tenant = ? AND id = ?",
        (correct, tenant, inference_id),
    )


def policy_to_json(policy: Policy | None) -> str | None:
    """Write a policy as JSON text."""
    return None if policy is None else json.dumps(asdict(policy), ensure_ascii=False)


def policy_from_json(text: str | None) -> Policy | None:
    """Read what `policy_to_json` wrote.

    Examples:
        >>> policy = Policy(bullets=(Bullet(text="Say cents.", sources=("e1",)),), writer="rules")
        >>> policy_from_json(policy_to_json(policy)) == policy
        True
    """
    if text is None:
        return None
    content = json.loads(text)
    bullets = (Bullet(**{**each, "sources": tuple(each["sources"])}) for each in content["bullets"])
    return Policy(bullets=tuple(bullets), writer=content["writer"])


def _conditions(wanted: Wanted) -> tuple[str, list[object]]:
    given = {
        "task = ?": wanted.task,
        "memory = ?": wanted.memory,
        "status = ?": wanted.status,
        "model = ?": wanted.model,
        "query_group = ?": wanted.group,
        "user_id = ?": wanted.user,
        "prompt_version = ?": wanted.prompt_version,
        "created_at >= ?": wanted.since,
        "created_at < ?": wanted.until,
    }
    parts = [condition for condition, value in given.items() if value is not None]
    values: list[object] = [value for value in given.values() if value is not None]
    if wanted.outcome is not None:
        parts.append("correct IS ?")
        values.append(_CORRECT[wanted.outcome])
    if wanted.text is not None:
        parts.append("(instr(lower(query), lower(?)) OR instr(lower(answer), lower(?)))")
        values += [wanted.text, wanted.text]
    return "".join(f" AND {part}" for part in parts), values


def _row(inference: Inference) -> tuple[object, ...]:
    usage = inference.usage
    values: dict[str, object] = {
        **{name: getattr(inference, name) for name in _PLAIN},
        "query_group": inference.group,
        "user_id": inference.user,
        **{name: getattr(usage, name) for name in _USAGE},
        "examples": json.dumps(inference.examples),
        "evidence": json.dumps(inference.evidence),
        "policy": policy_to_json(inference.policy),
    }
    return tuple(values[name] for name in _COLUMNS)


def _read(row: tuple[Any, ...]) -> Inference:
    values = dict(zip(_COLUMNS, row[1:], strict=True))
    correct = values["correct"]
    return Inference(
        **{name: values[name] for name in _PLAIN if name != "correct"},
        group=values["query_group"],
        user=values["user_id"],
        usage=Usage(**{name: values[name] for name in _USAGE}),
        examples=tuple(json.loads(values["examples"])),
        evidence=tuple(json.loads(values["evidence"])),
        policy=policy_from_json(values["policy"]),
        correct=None if correct is None else bool(correct),
    )


_CORRECT: dict[Outcome, int | None] = {"right": 1, "wrong": 0, "unknown": None}

_USAGE = ("tokens_in", "tokens_cached", "tokens_out", "tokens_thinking", "seconds", "cost")

_PLAIN = (
    "id",
    "tenant",
    "task",
    "created_at",
    "status",
    "memory",
    "correct",
    "model",
    "finish_reason",
    "prompt_version",
    "error",
    "query",
    "answer",
    "messages",
)
"""Fields that are columns of the same name."""

_COLUMNS = (*_PLAIN, "query_group", "user_id", *_USAGE, "examples", "evidence", "policy")
