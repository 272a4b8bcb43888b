"""One task's method with what it has learnt, for several threads: one verb at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from learnloop.hosting import Hosted
from learnloop.protocols import Journal, LanguageModel
from learnloop.server.storage.learner_states import LearnerState
from learnloop.types import (
    Advice,
    Decision,
    Episode,
    Event,
    Feedback,
    Message,
    Options,
    Prediction,
    Query,
    Reply,
)

T = TypeVar("T")

Assemble = Callable[[LanguageModel, Journal], Hosted]
"""Puts the method together over its memory, with a model for learning and a journal."""


class LearnerRecords(Protocol):
    """What the database keeps of one learner beside its memory."""

    def state(self) -> LearnerState | None:
        """Return the stored state; `None` where nothing was ever learnt."""
        ...

    def calls(self) -> int:
        """Return how many calls learning has made ever."""
        ...

    def count_call(self) -> int:
        """Count one call more, durably; return how many there are now."""
        ...


class Learner:
    """A hosted method. While `reflect_one` waits for a model the other verbs may run.

    Args:
        assemble: Puts the method together; again at each `reload`.
        model: Writes policies and edits prompts.
        records: Where the state and the count of calls are kept.

    Raises:
        StoreError: The state cannot be read.
    """

    def __init__(
        self, *, assemble: Assemble, model: LanguageModel, records: LearnerRecords
    ) -> None:
        self.records = records
        self.calls = records.calls()
        self._assemble = assemble
        self._model = _Courteous(model, self)
        self._turn = threading.Lock()
        self._reflecting = threading.Lock()
        self._reflector: int | None = None
        self._version = 0
        self._journal, self._method = self._restored()

    @property
    def version(self) -> int:
        """Of the stored state that the method goes on from; 0 where there is none."""
        return self._version

    def advise(self, query: Query) -> Advice:
        """Return what to show for a query; takes milliseconds and calls no model."""
        with self._turn:
            return self._method.advise(query)

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        """Take in feedback, durably, without a model; the same feedback again changes nothing."""
        with self._turn:
            return self._method.remember_one(query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        """Learn the rest; may call models, and lets others in while it waits."""
        with self._reflecting, self._turn:
            self._reflector = threading.get_ident()
            try:
                self._method.reflect_one(episode, prediction)
            finally:
                self._reflector = None

    def at_rest(self, do: Callable[[Hosted], T]) -> T:
        """Do something with the method while no verb is at work on it."""
        with self._turn:
            return do(self._method)

    def drain(self) -> tuple[Event, ...]:
        """Return what the method put on record since the last time."""
        return self._journal.drain()

    def saved(self, version: int) -> None:
        """Take note that the state is stored, as this version."""
        self._version = version

    def reload(self) -> None:
        """Go on from the stored state; what is not in it is forgotten."""
        with self._reflecting, self._turn:
            self._journal, self._method = self._restored()

    @contextmanager
    def waiting_for_a_model(self) -> Iterator[None]:
        """Count a call, and let others in until it has its answer.

        A call that an editor makes from a thread of its own keeps the others waiting.
        """
        reflects = threading.get_ident() == self._reflector
        if reflects:
            self._turn.release()
        try:
            self.calls = self.records.count_call()
            yield
        finally:
            if reflects:
                self._turn.acquire()

    def _restored(self) -> tuple[_Events, Hosted]:
        journal = _Events()
        method = self._assemble(self._model, journal)
        stored = self.records.state()
        if stored is not None:
            method.restore(stored.state)
        self._version = 0 if stored is None else stored.version
        journal.drain()
        return journal, method


class _Courteous:
    """Calls a model for a learner, which lets others in meanwhile."""

    def __init__(self, model: LanguageModel, learner: Learner) -> None:
        self.name = model.name
        self._called = model
        self._learner = learner

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        with self._learner.waiting_for_a_model():
            return self._called.complete(messages, options=options)


class _Events:
    """Keeps events until somebody takes them."""

    def __init__(self) -> None:
        self._kept: list[Event] = []
        self._lock = threading.Lock()

    def record(self, event: Event) -> None:
        with self._lock:
            self._kept.append(event)

    def decided(self, error: float, decision: Decision) -> None:
        """Keep nothing: the state holds what the gate was told."""

    def drain(self) -> tuple[Event, ...]:
        with self._lock:
            events, self._kept = tuple(self._kept), []
        return events
