"""`POST /v1/feedback`: durable and remembered before it is acknowledged; reflected on later."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from learnloop.errors import RequestRefusedError, UnknownEpisodeError
from learnloop.server.config import FeedbackRules, ServerConfig
from learnloop.server.doorkeeper import App
from learnloop.server.feedback_aliases import (
    LONGEST_ID,
    FeedbackBody,
    for_learning,
    read_body,
    read_feedback,
)
from learnloop.server.json_bodies import parse_json
from learnloop.server.lessons import FindLearner, lesson_of
from learnloop.server.moments import NewId, Now, stamp
from learnloop.server.storage import feedback_log, inferences
from learnloop.server.storage.database import Database
from learnloop.server.storage.feedback_log import LoggedFeedback
from learnloop.server.storage.inferences import Inference

MOST_AT_ONCE = 1000
_LANES = 256

router = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Feedback that is in the log, with the inference that it is on."""

    logged: LoggedFeedback
    inference: Inference


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackDesk:
    """Takes feedback in; that on one inference in turn, so that it is remembered as it is logged.

    Attributes:
        learner_of: Finds who is to remember it.
        wake: Called when there is something new to learn from.
    """

    config: ServerConfig
    database: Database
    learner_of: FindLearner
    wake: Callable[[], None]
    now: Now
    new_id: NewId
    _lanes: tuple[asyncio.Lock, ...] = field(
        default_factory=lambda: tuple(asyncio.Lock() for _ in range(_LANES))
    )

    async def take(self, tenant: str, bodies: Sequence[FeedbackBody]) -> tuple[LoggedFeedback, ...]:
        """Keep all of it or none, and have it remembered.

        Raises:
            UnknownEpisodeError: The tenant has no such inference.
            ConflictError: Other content is there under an id.
            StoreError: It could not be kept; where it was, sending it again does the rest.
        """
        at = stamp(self.now())
        named = [(body.id or self.new_id("fb"), body) for body in bodies]
        async with AsyncExitStack() as stack:
            for lane in _lanes_of(tenant, bodies):
                await stack.enter_async_context(self._lanes[lane])
            taken = await self.database.written(
                lambda connection: [
                    self._keep(connection, tenant, name, body, at) for name, body in named
                ]
            )
            self.wake()
            await asyncio.to_thread(self._remember, tenant, taken)
        return tuple(each.logged for each in taken)

    def _keep(
        self,
        connection: sqlite3.Connection,
        tenant: str,
        feedback_id: str,
        body: FeedbackBody,
        at: str,
    ) -> Taken:
        """Write one feedback to the log, in the transaction of all that came with it."""
        target = body.target_id
        inference = inferences.get(connection, tenant=tenant, inference_id=target)
        if inference is None:
            raise UnknownEpisodeError(f"no inference {target!r}; give the id of the completion")
        task = self.config.tasks.get(inference.task)
        rules = FeedbackRules() if task is None else task.feedback
        feedback = read_feedback(body, feedback_id=feedback_id, rules=rules)
        feedback_log.insert(connection, tenant=tenant, feedback=feedback, received_at=at)
        logged = feedback_log.get(connection, tenant=tenant, feedback_id=feedback_id)
        assert logged is not None
        return Taken(logged=logged, inference=inference)

    def _remember(self, tenant: str, taken: Sequence[Taken]) -> None:
        for each in taken:
            if each.inference.task in self.config.tasks:
                lesson = lesson_of(each.inference, for_learning(each.logged.feedback))
                learner = self.learner_of(tenant, each.inference.task)
                learner.remember_one(lesson.query, lesson.prediction, lesson.feedback)


def get_desk(request: Request) -> FeedbackDesk:
    """Return the desk of the app that a request came to."""
    desk: FeedbackDesk = request.app.state.feedback_desk
    return desk


@router.post("/v1/feedback")
async def give_feedback(
    request: Request, principal: App, desk: Annotated[FeedbackDesk, Depends(get_desk)]
) -> dict[str, object]:
    """Take one feedback or a list; a list is kept whole or not at all.

    A header `idempotency-key` is the id of a single feedback that has none.
    """
    content = parse_json(await request.body())
    if isinstance(content, list):
        logged = await desk.take(principal.tenant, _read_list(content))
        return {"feedback": [said(each) for each in logged]}
    body = read_body(content)
    key = request.headers.get("idempotency-key", "")[:LONGEST_ID]
    if key and body.id is None:
        body = body.model_copy(update={"id": key})
    (one,) = await desk.take(principal.tenant, (body,))
    return said(one)


def said(logged: LoggedFeedback) -> dict[str, object]:
    """Return feedback as responses have it; the same for good, whatever comes later."""
    return {**asdict(logged.feedback), "task": logged.task, "received_at": logged.received_at}


def _lanes_of(tenant: str, bodies: Iterable[FeedbackBody]) -> list[int]:
    """Return the lanes that feedback goes through, in the order in which all enter them."""
    keys = {f"{tenant} {body.target_id}" for body in bodies}
    return sorted({zlib.crc32(key.encode("utf-8", "surrogatepass")) % _LANES for key in keys})


def _read_list(content: list[object]) -> list[FeedbackBody]:
    if not 1 <= len(content) <= MOST_AT_ONCE:
        raise RequestRefusedError(
            f"a list of feedback has 1 to {MOST_AT_ONCE} items, got {len(content)}",
            status=422,
            code="invalid_feedback",
        )
    return [read_body(each, place=f"feedback[{n}].") for n, each in enumerate(content)]
