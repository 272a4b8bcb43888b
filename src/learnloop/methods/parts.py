"""What a host (the bench, the server) hands to a method; a method takes what it needs of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from learnloop.memory.memory import Memory
from learnloop.methods.answering import Answerer
from learnloop.prompting.composer import Composer
from learnloop.protocols import Embedder, Journal, LanguageModel
from learnloop.types import Episode, Query, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of one application or run.

    Each method class has `Settings`, a frozen pydantic model of its parameters, and
    `from_parts(parts, **params)`, which checks the parameters against it. A class that does what
    others must not says so: `needs_answers` (it is told right answers), `shows_wrong_answers` (the
    answering model sees wrong answers as examples). One that needs `demonstrations` says
    `needs_demonstrations`, one that uses `agents` says `takes_agents`, one to which nothing that
    feedback says makes a difference says `uses_feedback = False`.

    Attributes:
        task: What is asked of the model.
        model: Answers queries.
        policy_model: Writes policies; the same object as `model` where it has none of its own.
        memory: Where episodes are kept; used by one method alone.
        embedder: Measures similarity for anything that is not in memory.
        journal: Takes the events that go on record.
        seed: The run's seed.
        agents: Models that answer beside `model`.
        demonstrations: Returns so many right episodes that are not in the stream; `None` where
            there are none.
        answer_key: Returns the right answer; only for a method that declares `needs_answers`.
    """

    task: Task
    model: LanguageModel
    policy_model: LanguageModel
    memory: Memory
    embedder: Embedder
    journal: Journal
    seed: int = 0
    agents: tuple[LanguageModel, ...] = ()
    demonstrations: Callable[[int], Sequence[Episode]] | None = None
    answer_key: Callable[[Query], str] | None = None

    def answerer(
        self, composer: Composer, *, max_tokens: int, model: LanguageModel | None = None
    ) -> Answerer:
        """Return the part that answers queries with this task, and its model or another one."""
        return Answerer(
            task=self.task,
            model=self.model if model is None else model,
            composer=composer,
            journal=self.journal,
            max_tokens=max_tokens,
            seed=self.seed,
        )
