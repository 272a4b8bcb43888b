"""Answers with the last few episodes, right or wrong, and their feedback: GrowPrompt."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Recent
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import remember
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Retriever
from learnloop.states import State
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class GrowPromptSettings(BaseModel):
    """The parameters of `grow_prompt`.

    Attributes:
        k: How many episodes to show (StreamBench: 16, or 4 where contexts are long).
        layout: Order of the prompt.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all episodes together, in estimated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: PositiveInt = 4
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000


class GrowPrompt:
    """Shows the k newest episodes, newest last, each with its feedback in words. One call a query.

    The answering model sees wrong answers, as published: a baseline, not a recommendation. A
    correction counts as a right answer of its own, as for every method.

    Source: StreamBench, arXiv 2406.08747, section 4.

    Args:
        answerer: Answers.
        memory: Where episodes are kept.
        examples: Finds the newest ones.
        k: How many to show.
    """

    Settings = GrowPromptSettings
    shows_wrong_answers = True

    def __init__(self, *, answerer: Answerer, memory: Memory, examples: Retriever, k: int) -> None:
        self.answerer = answerer
        self.memory = memory
        self.examples = examples
        self.k = k

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> GrowPrompt:
        """Put the method together; `params` are the fields of `GrowPromptSettings`."""
        settings = GrowPromptSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format="commented",
            budget=TokenBudget(examples=settings.examples_budget),
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            examples=Recent(memory=parts.memory),
            k=settings.k,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = GrowPromptSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens, episodes=settings.k),)

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
