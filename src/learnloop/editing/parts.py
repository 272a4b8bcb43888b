"""What a host hands to an editor; an editor takes what it needs of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from learnloop.protocols import Journal, LanguageModel
from learnloop.types import Episode, Task


class Evaluate(Protocol):
    """Judges a text as a prompt on what was observed, without a model."""

    def __call__(self, text: str, episode: Episode) -> float:
        """Return the error that the prompt makes on one episode, 0 to 1.

        Raises:
            ProposalError: The text is no valid prompt.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorParts:
    """The parts of one application or run that editors are made from.

    Each editor class has `from_parts(parts, **params)`.

    Attributes:
        task: What the prompt is for, and how it is written.
        model: Writes.
        evaluate: Judges candidates.
        journal: Takes the events that go on record.
        seed: The run's seed.
    """

    task: Task
    model: LanguageModel
    evaluate: Evaluate
    journal: Journal
    seed: int = 0
