"""What answers and learns while the server runs: put together from the services, and ended."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from learnloop.errors import LearnloopError
from learnloop.server.advising import Adviser
from learnloop.server.chat import Proxy
from learnloop.server.feedback import FeedbackDesk
from learnloop.server.learners import Learners
from learnloop.server.learning import LearningWorker
from learnloop.server.models import Models
from learnloop.server.recording import Recorder
from learnloop.server.services import Services
from learnloop.server.upstream import Upstreams

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The parts that share one set of learners.

    Attributes:
        proxy: Answers chat requests.
        desk: Takes feedback in.
        worker: Learns from it in the background.
    """

    models: Models
    learners: Learners
    proxy: Proxy
    desk: FeedbackDesk
    worker: LearningWorker

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Learn in the background until the end; then let go of everything."""
        opening = threading.Thread(target=self._open_known, name="learnloop-opening", daemon=True)
        opening.start()
        try:
            with self.worker.running():
                yield
        finally:
            await self.proxy.upstreams.close()
            await asyncio.to_thread(self._close, opening)

    def _open_known(self) -> None:
        """Open what was in use before, so that the first requests need not wait for it."""
        try:
            self.learners.open_known()
        except LearnloopError as error:
            _LOG.warning("what was learnt could not be opened yet: %s", error)

    def _close(self, opening: threading.Thread) -> None:
        opening.join()
        self.proxy.adviser.close()
        self.learners.close()
        self.models.close()


def make_host(services: Services) -> Host:
    """Put the parts together; nothing is opened or called yet."""
    config, database = services.config, services.database
    models = Models(config, settings=services.settings)
    learners = Learners(config, settings=services.settings, database=database, models=models)
    recorder = Recorder(
        database, troubles=services.troubles, now=services.now, clock=services.clock
    )
    limits = config.server.limits
    worker = LearningWorker(
        config=config,
        database=database,
        learner_of=learners.find,
        now=services.now,
        clock=services.clock,
        new_id=services.new_id,
    )
    desk = FeedbackDesk(
        config=config,
        database=database,
        learner_of=learners.find,
        wake=worker.wake,
        now=services.now,
        new_id=services.new_id,
    )
    proxy = Proxy(
        services=services,
        upstreams=Upstreams(models, seconds=limits.upstream_timeout),
        adviser=Adviser(learners, recorder=recorder, seconds=limits.advice_timeout),
        recorder=recorder,
    )
    return Host(models=models, learners=learners, proxy=proxy, desk=desk, worker=worker)
