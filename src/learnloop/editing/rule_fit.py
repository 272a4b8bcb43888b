"""How well a rule fits a query, judged by where it was missed and by what right answers contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learnloop.editing.details import share_named
from learnloop.protocols import Embedder, Vectors

NEIGHBOURS = 8
SOFTNESS = 0.2
PRIOR_WEIGHT = 0.3
PRIOR = 0.5
MIN_SHARE_NAMED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A query with an answer that is known to be right."""

    query: str
    answer: str


class RuleFit:
    """Scores how well rules fit a query, about 0 to 2; more is better.

    The score adds two things. The first is the chance that the rule is needed, as a mean over
    similar queries weighted by similarity: a query whose answer was complained about for want of
    the rule counts 1, and a query with a right answer counts 1 where the answer names half of
    the rule's details or more, else 0. The second is how similar the rule's text is to the query.

    Args:
        embedder: Measures similarity.
    """

    def __init__(self, *, embedder: Embedder) -> None:
        self.embedder = embedder

    def score(
        self, query: str, *, texts: Sequence[str], missed: Sequence[str], solved: Sequence[Solved]
    ) -> float:
        """Return the score of one rule.

        Args:
            query: What is asked now.
            texts: The rule's wording first, then the complaints behind it.
            missed: The queries of those complaints.
            solved: Right answers of the same group.
        """
        vector = self.embedder.embed([query])[0]
        others = [one for one in solved if one.query not in missed]
        needed = np.array([1.0] * len(missed) + [_follows(one.answer, texts) for one in others])
        queries = [*missed, *(one.query for one in others)]
        similarity = self.embedder.embed(queries) @ vector
        chance = _weighted_mean(needed, similarity)
        return chance + float(self.embedder.embed(texts[:1])[0] @ vector)


def _follows(answer: str, texts: Sequence[str]) -> float:
    return float(max(share_named(answer, text) for text in texts) >= MIN_SHARE_NAMED)


def _weighted_mean(needed: np.ndarray, similarity: Vectors) -> float:
    """Return the mean over the nearest, with a prior of one half that little evidence leaves."""
    nearest = np.argsort(-similarity, kind="stable")[:NEIGHBOURS]
    weights = np.exp((similarity[nearest] - 0.5) / SOFTNESS)
    total = float(weights.sum()) + PRIOR_WEIGHT
    return (float(weights @ needed[nearest]) + PRIOR_WEIGHT * PRIOR) / total
