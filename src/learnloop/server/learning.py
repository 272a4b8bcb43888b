"""The worker that learns off the answer path: one feedback at a time, within a task's budget."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event as Signal
from threading import Thread
from types import TracebackType

from learnloop.editing.bullets import why_refused
from learnloop.errors import LearnloopError
from learnloop.hosting import Hosted
from learnloop.server.config import ServerConfig
from learnloop.server.feedback_aliases import for_learning
from learnloop.server.learning_pace import Failure, Pace
from learnloop.server.lessons import FindLearner, TaskLearner, as_of, lesson_of
from learnloop.server.moments import NewId, Now, stamp
from learnloop.server.revisions import take_back
from learnloop.server.storage import audit, feedback_log, inferences, learner_states, quarantine
from learnloop.server.storage.audit import AuditEntry
from learnloop.server.storage.database import Database
from learnloop.server.storage.feedback_log import LoggedFeedback
from learnloop.server.storage.inferences import Inference
from learnloop.server.storage.quarantine import Held
from learnloop.types import Episode, Event, Feedback

LOOK_AGAIN = 5.0
"""Seconds after which the worker looks for work that nobody woke it for."""

GRACE_SECONDS = 10.0
"""How long a lesson that is being learnt may go on once the worker is told to stop."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLearning:
    """How learning stands for one task.

    `held_up` says why it does not go on, `""` where it does; `wait` for how many seconds, where
    time is what it needs.
    """

    tenant: str
    task: str
    waiting: int
    held_up: str
    wait: float
    failure: Failure | None


class LearningWorker:
    """Takes feedback that nobody has reflected on yet, oldest first, a task in turn.

    What was learnt, that it was, and from what are committed together, and only over the state
    that it was learnt on. Nothing is locked while a model is called. What was cut off is begun
    again: the same feedback a second time changes nothing.

    Args:
        config: Which tasks learn, and what they may spend.
        database: Where feedback waits.
        learner_of: Finds who learns.
        now: The time, for what is stored.
        clock: Seconds.
        new_id: Makes ids.
    """

    def __init__(
        self,
        *,
        config: ServerConfig,
        database: Database,
        learner_of: FindLearner,
        now: Now,
        clock: Callable[[], float],
        new_id: NewId,
    ) -> None:
        self.config = config
        self.database = database
        self.learner_of = learner_of
        self.now = now
        self.clock = clock
        self.new_id = new_id
        self._paces: dict[tuple[str, str], Pace] = {}
        self._last = ("", "")
        self._work, self._stop = Signal(), Signal()

    def wake(self) -> None:
        """Say that there may be something new to learn from."""
        self._work.set()

    def catch_up(self) -> None:
        """Have remembered what was acknowledged or logged before the process ended, in order."""
        for tenant, task in self._waiting():
            with self.database.read() as connection:
                waiting = feedback_log.unreflected(
                    connection, tenant=tenant, task=task, limit=1_000_000
                )
            for logged in waiting:
                with _Attempt(self, logged):
                    self._remember(logged)

    def step(self) -> bool:
        """Learn from one feedback; say whether there was one that could be learnt from."""
        found = self._next()
        if found is None:
            return False
        with _Attempt(self, found):
            self._learn(found)
        return True

    def status(self, *, tenant: str) -> tuple[TaskLearning, ...]:
        """Return how learning stands for each task of the config, for one tenant."""
        with self.database.read() as connection:
            waiting = {
                task: feedback_log.count_unreflected(connection, tenant=tenant, task=task)
                for task in self.config.tasks
            }
        return tuple(self._status(tenant, task, count) for task, count in waiting.items())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Work in a thread of its own until the end; let a lesson end that does so soon."""
        self.catch_up()
        thread = Thread(target=self._go_on, name="learnloop-learning", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._work.set()
            thread.join(GRACE_SECONDS)

    def pace(self, tenant: str, task: str) -> Pace:
        """Return how fast a task may learn."""
        key = (tenant, task)
        if key not in self._paces:
            self._paces[key] = Pace(self.config.tasks[task].learning, clock=self.clock)
        return self._paces[key]

    def note_failure(self, logged: LoggedFeedback, error: BaseException) -> None:
        """Put a failure on record, pause the task, and go back to what is stored."""
        fields = {"tenant": logged.tenant, "task": logged.task, "feedback": logged.feedback.id}
        _LOG.warning("learning failed: %s", error, exc_info=error, extra={"fields": fields})
        failure = Failure(
            feedback_id=logged.feedback.id,
            error=f"{type(error).__name__}: {error}",
            at=stamp(self.now()),
        )
        self.pace(logged.tenant, logged.task).failed(failure)
        with suppress(LearnloopError):
            learner = self.learner_of(logged.tenant, logged.task)
            learner.drain()
            learner.reload()

    def _go_on(self) -> None:
        while not self._stop.is_set():
            self._work.clear()
            worked = False
            with _Round():
                worked = self.step()
            if not worked:
                self._work.wait(LOOK_AGAIN)

    def _waiting(self) -> list[tuple[str, str]]:
        with self.database.read() as connection:
            pairs = feedback_log.waiting_tasks(connection)
        return [(tenant, task) for tenant, task in pairs if task in self.config.tasks]

    def _next(self) -> LoggedFeedback | None:
        """Return what to learn from: of the task after the last one, where it may go on."""
        pairs = self._waiting()
        later = [pair for pair in pairs if pair > self._last]
        for tenant, task in [*later, *(pair for pair in pairs if pair <= self._last)]:
            pace = self.pace(tenant, task)
            if pace.wait > 0 or not pace.limits.enabled:
                continue
            if pace.why_not(calls=self.learner_of(tenant, task).calls):
                continue
            self._last = (tenant, task)
            with self.database.read() as connection:
                return pace.choose(feedback_log.unreflected(connection, tenant=tenant, task=task))
        return None

    def _status(self, tenant: str, task: str, waiting: int) -> TaskLearning:
        pace = self.pace(tenant, task)
        calls = self.learner_of(tenant, task).calls if pace.limits.max_calls is not None else 0
        return TaskLearning(
            tenant=tenant,
            task=task,
            waiting=waiting,
            held_up=pace.why_not(calls=calls),
            wait=pace.wait,
            failure=pace.failure,
        )

    def _inference(self, logged: LoggedFeedback) -> Inference:
        target = logged.feedback.target_id
        with self.database.read() as connection:
            found = inferences.get(connection, tenant=logged.tenant, inference_id=target)
        assert found is not None, "feedback has its inference: the tables see to it"
        return found

    def _remember(self, logged: LoggedFeedback) -> None:
        lesson = lesson_of(self._inference(logged), for_learning(logged.feedback))
        learner = self.learner_of(logged.tenant, logged.task)
        learner.remember_one(lesson.query, lesson.prediction, lesson.feedback)

    def _learn(self, logged: LoggedFeedback) -> None:
        learner = self.learner_of(logged.tenant, logged.task)
        lesson = lesson_of(self._inference(logged), for_learning(logged.feedback))
        episode = learner.remember_one(lesson.query, lesson.prediction, lesson.feedback)
        made = learner.calls
        held: list[Held] = []
        if logged.superseded_by is None:
            heard = as_of(episode, lesson.feedback.id)
            held = self._poisoned(logged, lesson.feedback)
            if held:
                heard = without_words(heard)
            try:
                learner.reflect_one(heard, lesson.prediction)
            finally:
                self.pace(logged.tenant, logged.task).spent(learner.calls - made)
            if lesson.feedback.supersedes is not None:
                learner.at_rest(lambda method: take_back(method, heard))
        self._save(logged, learner, held)
        self.pace(logged.tenant, logged.task).succeeded(logged.feedback.id)

    def _save(self, logged: LoggedFeedback, learner: TaskLearner, held: list[Held]) -> None:
        """Commit what was learnt; the version is read first, so that no steering is lost."""
        before = learner.version
        state, events = learner.at_rest(_state_of), learner.drain()
        version = self.database.write(
            lambda connection: self._store(
                connection, logged, state=state, events=events, before=before, held=held
            )
        ).result()
        learner.saved(version)

    def _store(
        self,
        connection: sqlite3.Connection,
        logged: LoggedFeedback,
        *,
        state: dict[str, object],
        events: tuple[Event, ...],
        before: int,
        held: list[Held],
    ) -> int:
        """Swap the state where it has changed; note what it came from, and what was refused."""
        at, tenant, task = stamp(self.now()), logged.tenant, logged.task
        there = learner_states.get(connection, tenant=tenant, task=task)
        version = before
        if there is None or there.version != before or there.state != state:
            version = learner_states.swap(
                connection, tenant=tenant, task=task, expected=before, state=state, at=at
            )
            entry = AuditEntry(
                at=at,
                actor="learner",
                action="learnt",
                target=task,
                detail=lineage(logged, version=version, events=events),
            )
            audit.record(connection, tenant=tenant, entry=entry)
        for each in [*held, *self._refused(logged, events)]:
            quarantine.hold(connection, tenant=tenant, held=each)
        ids = (logged.feedback.id,)
        feedback_log.mark_reflected(connection, tenant=tenant, feedback_ids=ids, at=at)
        return version

    def _poisoned(self, logged: LoggedFeedback, feedback: Feedback) -> list[Held]:
        """Return the comment where no rule may come from it, unless a person released it."""
        text = " ".join((feedback.comment or "").split())
        reason = why_refused(text) if text else None
        if reason is None or reason in _HARMLESS:
            return []
        with self.database.read() as connection:
            known = quarantine.find(connection, tenant=logged.tenant, task=logged.task, text=text)
        if known is not None and known.status == "released":
            return []
        return [self._hold(logged, kind="comment", text=text, reason=reason)]

    def _refused(self, logged: LoggedFeedback, events: tuple[Event, ...]) -> list[Held]:
        return [
            self._hold(logged, kind=_REFUSED[event.kind], text=event.text, reason=event.kind)
            for event in events
            if event.kind in _REFUSED and not event.text.startswith("call failed")
        ]

    def _hold(self, logged: LoggedFeedback, *, kind: str, text: str, reason: str) -> Held:
        return Held(
            id=self.new_id("held"),
            task=logged.task,
            kind=kind,
            text=text,
            reason=reason,
            created_at=stamp(self.now()),
            refs=(logged.feedback.id, logged.feedback.target_id),
        )


def without_words(episode: Episode) -> Episode:
    """Return an episode without the comment of its newest feedback."""
    *earlier, newest = episode.feedback
    return replace(episode, feedback=(*earlier, replace(newest, comment=None)))


def lineage(logged: LoggedFeedback, *, version: int, events: tuple[Event, ...]) -> str:
    """Write down what a state came from, as JSON text."""
    content = {
        "version": version,
        "feedback": logged.feedback.id,
        "inference": logged.feedback.target_id,
        "events": [{"kind": event.kind, "refs": event.refs} for event in events],
    }
    return json.dumps(content, ensure_ascii=False)


def _state_of(method: Hosted) -> dict[str, object]:
    """Return a state as it will be read again: JSON has no tuples."""
    state: dict[str, object] = json.loads(json.dumps(method.state()))
    return state


class _Attempt:
    """Notes a failure, of whatever kind, so that one feedback never ends the worker."""

    def __init__(self, worker: LearningWorker, logged: LoggedFeedback) -> None:
        self._worker = worker
        self._logged = logged

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._worker.note_failure(self._logged, error)
        return True


class _Round:
    """Logs what goes wrong outside any lesson, such as a database that is away."""

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        _LOG.warning("the worker could not look for work", exc_info=error)
        return True


_HARMLESS = frozenset({"too long", "refusal"})
"""Why a text is no bullet although it may be heard."""

_REFUSED = {
    "rule_refused": "bullet",
    "bullets_refused": "bullet",
    "policy_refused": "bullet",
    "proposal_invalid": "prompt",
}
"""Events that tell of refused text, and what it would have been."""
