"""Answers with the same few demonstrations every time: what examples do without any learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.errors import ParameterError
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import episode_of
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.states import State
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class FewShotSettings(BaseModel):
    """The parameters of `few_shot`.

    Attributes:
        k: How many demonstrations (StreamBench: 16, or 4 where contexts are long).
        layout: Order of the prompt.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all demonstrations together, in estimated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: PositiveInt = 16
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000


class FewShot:
    """Shows right answers that are not part of the stream, in the order of their source.

    Source: StreamBench, arXiv 2406.08747, section 3.

    Args:
        answerer: Answers.
        demonstrations: What is shown.
    """

    Settings = FewShotSettings
    needs_demonstrations = True

    def __init__(self, *, answerer: Answerer, demonstrations: Sequence[Episode]) -> None:
        self.answerer = answerer
        self.demonstrations = tuple(demonstrations)

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> FewShot:
        """Put the method together; `params` are the fields of `FewShotSettings`.

        Raises:
            ParameterError: The environment has no demonstrations, or too few.
        """
        settings = FewShotSettings.model_validate(params)
        if parts.demonstrations is None:
            raise ParameterError(
                f"method 'few_shot' needs demonstrations, and {parts.task.name!r} has none; take "
                "an environment that has some, or a method that learns its examples"
            )
        budget = TokenBudget(examples=settings.examples_budget)
        return cls(
            answerer=parts.answerer(
                Composer(layout=settings.layout, budget=budget), max_tokens=settings.max_tokens
            ),
            demonstrations=parts.demonstrations(settings.k),
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = FewShotSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens, episodes=settings.k),)

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self.advise(query))

    def advise(self, query: Query) -> Advice:
        return Advice(examples=self.demonstrations)

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
