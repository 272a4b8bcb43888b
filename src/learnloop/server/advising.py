"""Asks a task's learner what to show, within a deadline; its failures never reach the caller."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor

from learnloop.server.config import TaskConfig
from learnloop.server.learners import Learners
from learnloop.server.learnt_block import LearntBlock, learnt_block
from learnloop.server.recording import Exchange, Recorder
from learnloop.types import Query

THREADS = 4
OPENING_SECONDS = 2.0
"""How long the first advice of a task may take: its memory has to be opened."""


class Adviser:
    """Fills in what an exchange is shown.

    Args:
        learners: Whom to ask.
        recorder: Told of failures.
        seconds: The deadline.
    """

    def __init__(self, learners: Learners, *, recorder: Recorder, seconds: float) -> None:
        self.learners = learners
        self.recorder = recorder
        self.seconds = seconds
        self._slow: set[tuple[str, str]] = set()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="learnloop-advice")

    async def advise(self, exchange: Exchange, task: TaskConfig) -> None:
        """Put the learnt block into an exchange, or say in it why there is none."""
        seconds = self._patience(exchange.tenant, exchange.task)
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(
            self._pool, self._make, exchange.tenant, exchange.task, exchange.query, task
        )
        await asyncio.wait({asked}, timeout=seconds)
        if not asked.done():
            asked.cancel()
            self._failed(exchange, f"advice took longer than {seconds * 1000:.0f} ms")
            return
        error = asked.exception()
        if error is not None:
            self._failed(exchange, f"advice failed: {type(error).__name__}: {error}")
            return
        exchange.block = asked.result()
        exchange.memory = "used" if exchange.block.text else "empty"

    def close(self) -> None:
        """Let go of the threads once they are at rest."""
        self._pool.shutdown(cancel_futures=True)

    def _patience(self, tenant: str, task: str) -> float:
        """Return how long to wait; for a memory that was slow to open, not a second time."""
        if self.learners.is_open(tenant, task) or (tenant, task) in self._slow:
            return self.seconds
        return max(self.seconds, OPENING_SECONDS)

    def _make(self, tenant: str, name: str, query: Query, task: TaskConfig) -> LearntBlock:
        advice = self.learners.find(tenant, name).advise(query)
        return learnt_block(advice, name=name, task=task)

    def _failed(self, exchange: Exchange, why: str) -> None:
        if not self.learners.is_open(exchange.tenant, exchange.task):
            self._slow.add((exchange.tenant, exchange.task))
        exchange.unlearnt(why)
        self.recorder.note(exchange, "advice", why)


def is_control(inference_id: str, *, share: float) -> bool:
    """Say whether an inference belongs to the control group, by its id alone.

    Examples:
        >>> is_control("inf_1", share=0.0), is_control("inf_1", share=1.0)
        (False, True)
    """
    digest = hashlib.sha256(inference_id.encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48 < share
