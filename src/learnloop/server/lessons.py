"""What an inference is to a method, and what feedback and learning ask of a task's learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from learnloop.hosting import Hosted
from learnloop.memory.feedback_in_force import verdict
from learnloop.server.storage.inferences import Inference
from learnloop.types import Episode, Event, Feedback, Prediction, Query

T = TypeVar("T")


class TaskLearner(Protocol):
    """The method of one tenant's task with what it has learnt; for several threads."""

    @property
    def version(self) -> int:
        """Of the stored state that the method goes on from; 0 where there is none."""
        ...

    @property
    def calls(self) -> int:
        """How many calls learning has made; each that was tried counts."""
        ...

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        """Take in feedback, durably, without a model; the same feedback again changes nothing."""
        ...

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        """Learn the rest; may call models, and then lets others in while it waits."""
        ...

    def at_rest(self, do: Callable[[Hosted], T]) -> T:
        """Do something with the method while no verb is at work on it."""
        ...

    def drain(self) -> tuple[Event, ...]:
        """Return what the method put on record since the last time."""
        ...

    def saved(self, version: int) -> None:
        """Take note that the state is stored, as this version."""
        ...

    def reload(self) -> None:
        """Go on from the stored state; what is not in it is forgotten."""
        ...


FindLearner = Callable[[str, str], TaskLearner]
"""Finds the learner of a tenant and a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One feedback with what it is about."""

    query: Query
    prediction: Prediction
    feedback: Feedback


def lesson_of(inference: Inference, feedback: Feedback) -> Lesson:
    """Return what a method learns of one feedback on an inference."""
    return Lesson(
        query=Query(id=inference.id, text=inference.query, group=inference.group),
        prediction=Prediction(
            query_id=inference.id,
            text=inference.answer,
            raw=inference.answer,
            examples=inference.examples,
            evidence=inference.evidence,
            policy=inference.policy,
            prompt_version=inference.prompt_version,
        ),
        feedback=feedback,
    )


def as_of(episode: Episode, feedback_id: str) -> Episode:
    """Return an episode as it stood when one feedback on it was the newest.

    Examples:
        >>> said = tuple(
        ...     Feedback(id=name, target_id="i", correct=right)
        ...     for name, right in (("a", False), ("b", True))
        ... )
        >>> query = Query(id="i", text="How many?")
        >>> source = said[0].source
        >>> now = Episode(id="i", query=query, answer="3", step=0, source=source, feedback=said)
        >>> as_of(now, "a").correct, len(as_of(now, "b").feedback)
        (False, 2)
    """
    place = next(
        (n for n, each in enumerate(episode.feedback) if each.id == feedback_id),
        len(episode.feedback) - 1,
    )
    heard = episode.feedback[: place + 1]
    return replace(episode, feedback=heard, correct=verdict(heard))
