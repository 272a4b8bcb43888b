"""Answers with the most similar past answers that were right: StreamBench's Self-StreamICL."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Right
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.hosting_refusals import reasoning_refusal
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import remember
from learnloop.prompting.blocks import ExampleFormat
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Retriever
from learnloop.states import State
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class SelfStreamICLSettings(BaseModel):
    """The parameters of `self_stream_icl`.

    Attributes:
        k: How many examples to show.
        layout: Order of the prompt.
        example_format: `labelled` shows examples as DRPG's own code does, with a sentence of
            feedback; the control for what that sentence alone does.
        rationale: Ask for reasoning before the answer, and show each example with the reasoning
            that it was answered with.
        max_tokens: Limit on an answer, with its reasoning; with `rationale` 768 where nothing is
            said.
        examples_budget: Limit on all examples together, in estimated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: PositiveInt = 4
    layout: Layout = "cache"
    example_format: ExampleFormat = "plain"
    rationale: bool = False
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000

    @model_validator(mode="before")
    @classmethod
    def _leave_room_for_reasoning(cls, params: dict[str, object]) -> dict[str, object]:
        return {"max_tokens": 768} | params if params.get("rationale") else params


class SelfStreamICL:
    """Shows at most k right episodes, most similar last. One call a query.

    A correction counts as a right answer of its own, so that partial feedback is used by every
    method alike.

    Source: StreamBench, arXiv 2406.08747, section 4.

    Args:
        answerer: Answers.
        memory: Where episodes are kept.
        examples: Finds the right ones.
        k: How many to show.
    """

    def __init__(
        self, *, answerer: Answerer, memory: Memory, examples: Retriever, k: int = 4
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.examples = examples
        self.k = k

    Settings = SelfStreamICLSettings

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> SelfStreamICL:
        """Put the method together; `params` are the fields of `SelfStreamICLSettings`."""
        settings = SelfStreamICLSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format=settings.example_format,
            budget=TokenBudget(examples=settings.examples_budget),
            reasoning=settings.rationale,
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            examples=Right(memory=parts.memory),
            k=settings.k,
        )

    @classmethod
    def hosting_refusal(cls, **params: object) -> str | None:
        """Say why these parameters do not go with an application; `None` where they do."""
        return reasoning_refusal(SelfStreamICLSettings.model_validate(params).rationale)

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = SelfStreamICLSettings.model_validate(params)
        return (
            one_answer_each(
                outlook,
                max_tokens=settings.max_tokens,
                episodes=settings.k,
                reasoning=settings.rationale,
            ),
        )

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self.advise(query))

    def advise(self, query: Query) -> Advice:
        return Advice(examples=self.examples.retrieve(query, k=self.k))

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        self.remember_one(query, prediction, feedback)

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        return remember(self.memory, query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        """Learn nothing more: all is in the memory."""

    def state(self) -> dict[str, object]:
        return State().written()

    def restore(self, state: Mapping[str, object]) -> None:
        State.read(state)
