"""Answers with the most similar episodes, right or wrong, and their feedback: MemPrompt."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Similar
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import remember
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Retriever
from learnloop.states import State
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class MemPromptSettings(BaseModel):
    """The parameters of `mem_prompt`.

    Attributes:
        k: How many episodes to look up (StreamBench: 16, or 4 where contexts are long).
        only_correct: Show only the right ones of those k, as a published switch does: so fewer
            than k, whatever else is in memory.
        layout: Order of the prompt.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all episodes together, in estimated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: PositiveInt = 4
    only_correct: bool = False
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000


class MemPrompt:
    """Shows the k most similar episodes, most similar last, each with its feedback in words.

    The answering model sees wrong answers, as published: a baseline, not a recommendation. A
    correction counts as a right answer of its own, as for every method. One call a query.

    Source: Madaan et al. 2022, arXiv 2201.06009; as a baseline in StreamBench, arXiv 2406.08747.

    Args:
        answerer: Answers.
        memory: Where episodes are kept.
        examples: Finds similar ones of any outcome.
        k: How many to look up.
        only_correct: Show only the right ones of those.
    """

    Settings = MemPromptSettings
    shows_wrong_answers = True

    def __init__(
        self,
        *,
        answerer: Answerer,
        memory: Memory,
        examples: Retriever,
        k: int,
        only_correct: bool = False,
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.examples = examples
        self.k = k
        self.only_correct = only_correct

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> MemPrompt:
        """Put the method together; `params` are the fields of `MemPromptSettings`."""
        settings = MemPromptSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format="commented",
            budget=TokenBudget(examples=settings.examples_budget),
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            examples=Similar(memory=parts.memory),
            k=settings.k,
            only_correct=settings.only_correct,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = MemPromptSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens, episodes=settings.k),)

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self.advise(query))

    def advise(self, query: Query) -> Advice:
        found = self.examples.retrieve(query, k=self.k)
        if self.only_correct:
            found = tuple(episode for episode in found if episode.correct)
        return Advice(examples=found)

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
