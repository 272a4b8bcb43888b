"""Answers every query from the task alone and learns nothing: the floor of each comparison."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import episode_of
from learnloop.prompting.composer import Composer, Layout
from learnloop.states import State
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class ZeroShotSettings(BaseModel):
    """The parameters of `zero_shot`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layout: Layout = "cache"
    max_tokens: PositiveInt = 256


class ZeroShot:
    """One call a query, no memory.

    Args:
        answerer: Answers.
    """

    def __init__(self, *, answerer: Answerer) -> None:
        self.answerer = answerer

    Settings = ZeroShotSettings

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> ZeroShot:
        """Put the method together; `params` are the fields of `ZeroShotSettings`."""
        settings = ZeroShotSettings.model_validate(params)
        composer = Composer(layout=settings.layout)
        return cls(answerer=parts.answerer(composer, max_tokens=settings.max_tokens))

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = ZeroShotSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens),)

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self.advise(query))

    def advise(self, query: Query) -> Advice:
        return Advice()

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        """Learn nothing."""

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        return episode_of(query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        """Learn nothing."""

    def state(self) -> dict[str, object]:
        return State().written()

    def restore(self, state: Mapping[str, object]) -> None:
        State.read(state)
