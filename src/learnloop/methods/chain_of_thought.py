"""Asks for reasoning before the answer, and learns nothing: chain-of-thought prompting."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.prompting.composer import Composer, Layout
from learnloop.types import Feedback, Prediction, Query


class ChainOfThoughtSettings(BaseModel):
    """The parameters of `chain_of_thought`.

    Attributes:
        layout: Order of the prompt.
        max_tokens: Limit on the reasoning and the answer together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    layout: Layout = "cache"
    max_tokens: PositiveInt = 768


class ChainOfThought:
    """One call a query, no memory. The reasoning is kept as the rationale of the prediction.

    Source: Wei et al. 2022, arXiv 2201.11903; as a baseline in StreamBench, arXiv 2406.08747.

    Args:
        answerer: Answers, with a composer that asks for reasoning.
    """

    Settings = ChainOfThoughtSettings

    def __init__(self, *, answerer: Answerer) -> None:
        self.answerer = answerer

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> ChainOfThought:
        """Put the method together; `params` are the fields of `ChainOfThoughtSettings`."""
        settings = ChainOfThoughtSettings.model_validate(params)
        composer = Composer(layout=settings.layout, reasoning=True)
        return cls(answerer=parts.answerer(composer, max_tokens=settings.max_tokens))

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = ChainOfThoughtSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens, reasoning=True),)

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.answer(query)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        """Learn nothing."""
