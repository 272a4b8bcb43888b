"""Keeps each inference once it is answered, without holding the answer up."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from learnloop.errors import LearnloopError
from learnloop.llm.prices import price
from learnloop.server.answers import Listener
from learnloop.server.learnt_block import LearntBlock
from learnloop.server.moments import Now, stamp
from learnloop.server.storage import inferences
from learnloop.server.storage.database import Database
from learnloop.server.storage.inferences import Inference, MemoryUse, Status
from learnloop.server.troubles import Trouble, TroubleKind, Troubles
from learnloop.server.upstream import Upstream
from learnloop.types import Query, Usage

_LOG = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and what has come of it so far; of one coroutine.

    Attributes:
        began: What the clock said.
        messages: The caller's, where they are to be kept.
        error: Why it failed, or why memory did.
        closed: Whether it is on its way to the record.
    """

    tenant: str
    task: str
    query: Query
    user: str
    created_at: str
    began: float
    messages: object = None
    memory: MemoryUse = "empty"
    block: LearntBlock = field(default_factory=LearntBlock)
    upstream: Upstream | None = None
    listener: Listener = field(default_factory=Listener)
    error: str | None = None
    closed: bool = False

    @property
    def id(self) -> str:
        """Of the inference."""
        return self.query.id

    @property
    def headers(self) -> dict[str, str]:
        """What the response says of the inference."""
        headers = {"learnloop-inference-id": self.id, "learnloop-memory": self.memory}
        if self.block.prompt_version is not None:
            headers["learnloop-prompt-version"] = str(self.block.prompt_version)
        return headers

    def unlearnt(self, why: str) -> None:
        """Note that the request goes on without what was learnt, since something of ours failed."""
        self.memory, self.block, self.error = "failed", LearntBlock(), why


class Recorder:
    """Hands inferences to the writer of the database, which keeps them in its own time.

    Args:
        database: Keeps them.
        troubles: Told of what could not be kept.
        now: The time.
        clock: Seconds.
    """

    def __init__(
        self, database: Database, *, troubles: Troubles, now: Now, clock: Callable[[], float]
    ) -> None:
        self.database = database
        self.troubles = troubles
        self.now = now
        self.clock = clock

    def close(self, exchange: Exchange, *, status: Status, error: str | None = None) -> None:
        """Have an exchange kept; the second time changes nothing. Never fails and never waits."""
        if exchange.closed:
            return
        exchange.closed = True
        exchange.error = error or exchange.error
        seconds = self.clock() - exchange.began
        try:
            kept = self.database.write(lambda made: _insert(made, exchange, status, seconds))
        except LearnloopError as failure:
            self._lost(exchange, failure)
            return
        kept.add_done_callback(lambda done: self._check(exchange, done))

    def note(self, exchange: Exchange, kind: TroubleKind, text: str) -> None:
        """Take note of what went wrong while the request went on."""
        fields = {"tenant": exchange.tenant, "task": exchange.task, "inference": exchange.id}
        _LOG.warning("%s: %s", kind, text, extra={"fields": fields})
        self.troubles.note(
            Trouble(
                tenant=exchange.tenant,
                task=exchange.task,
                kind=kind,
                text=text,
                at=stamp(self.now()),
            )
        )

    def _check(self, exchange: Exchange, done: Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._lost(exchange, error)

    def _lost(self, exchange: Exchange, error: BaseException) -> None:
        self.note(exchange, "record", f"inference {exchange.id} could not be kept: {error}")


def _insert(
    connection: sqlite3.Connection, exchange: Exchange, status: Status, seconds: float
) -> None:
    """Write the row, in the writer's thread: prices and long texts take a moment."""
    block, listener, upstream = exchange.block, exchange.listener, exchange.upstream
    inference = Inference(
        id=exchange.id,
        tenant=exchange.tenant,
        task=exchange.task,
        created_at=exchange.created_at,
        query=exchange.query.text,
        answer=listener.answer,
        model="" if upstream is None else upstream.name,
        memory=exchange.memory,
        status=status,
        error=exchange.error,
        finish_reason=listener.finish_reason,
        usage=_usage(listener, upstream, seconds=seconds),
        messages=None if exchange.messages is None else to_json(exchange.messages).decode(),
        examples=block.examples,
        evidence=block.evidence,
        policy=block.policy,
        prompt_version=block.prompt_version,
        group=exchange.query.group,
        user=exchange.user,
    )
    inferences.insert(connection, tenant=exchange.tenant, inference=inference)


def _usage(listener: Listener, upstream: Upstream | None, *, seconds: float) -> Usage:
    return listener.usage(seconds=seconds, cost=_cost(listener, upstream))


def _cost(listener: Listener, upstream: Upstream | None) -> float | None:
    if upstream is None or not listener.counts:
        return None
    if upstream.free:
        return 0.0
    answer: dict[str, Any] = {"usage": listener.counts}
    try:
        return price(answer, model=upstream.address.model, url=upstream.address.base_url)
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        return None
