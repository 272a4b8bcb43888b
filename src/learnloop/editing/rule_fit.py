"""How well a rule fits a query, judged by where it was missed and by what right answers contain."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnloop.editing.details import share_named
from learnloop.editing.rule import Rule
from learnloop.protocols import Embedder, Vectors

NEIGHBOURS = 8
SOFTNESS = 0.2
PRIOR_WEIGHT = 0.3
PRIOR = 0.5
MIN_SHARE_NAMED = 0.5
REMEMBERED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """A query and an answer to it that is known to be right."""

    query: str
    answer: str


class RuleFit:
    """Scores how well rules fit a query, from -1 to 2; more is better.

    The score adds two things. The first is the chance that the rule is needed, as a mean over
    similar queries weighted by similarity: a query whose answer was complained about for want of
    the rule counts 1, and a query with a right answer counts 1 where the answer names half of
    the rule's details or more, else 0. The second is how similar the rule's text is to the query.

    The last 200 right answers of a group are remembered.

    Args:
        embedder: Measures similarity.
    """

    def __init__(self, *, embedder: Embedder) -> None:
        self.embedder = embedder
        self._solved: dict[str, _Solved] = {}

    def keep(self, query: str, answer: str, *, group: str) -> None:
        """Remember an answer that is known to be right."""
        self._keep([RightAnswer(query=query, answer=answer)], group=group)

    @property
    def right_answers(self) -> dict[str, tuple[RightAnswer, ...]]:
        """The right answers of each group, oldest first."""
        return {
            group: tuple(
                RightAnswer(query=query, answer=answer)
                for query, answer in zip(solved.queries, solved.answers, strict=True)
            )
            for group, solved in self._solved.items()
        }

    def restore(self, right_answers: Mapping[str, Sequence[RightAnswer]]) -> None:
        """Remember these right answers, and no others."""
        self._solved = {}
        for group, given in right_answers.items():
            self._keep(given, group=group)

    def _keep(self, given: Sequence[RightAnswer], *, group: str) -> None:
        solved = self._solved.setdefault(group, _Solved())
        solved.queries.extend(one.query for one in given)
        solved.answers.extend(one.answer for one in given)
        solved.vectors.extend(self.embedder.embed([one.query for one in given]))

    def scores(self, query: str, rules: Sequence[Rule]) -> list[float]:
        """Return the score of each rule for a query; all rules are of one group."""
        if not rules:
            return []
        vector = self.embedder.embed([query])[0]
        solved = self._solved.get(rules[0].group, _Solved())
        similarity = solved.similarity(vector)
        return [self._score(rule, vector, solved, similarity) for rule in rules]

    def _score(
        self, rule: Rule, vector: Vectors, solved: _Solved, similarity: NDArray[np.float32]
    ) -> float:
        missed = set(rule.queries)
        other = [place for place, query in enumerate(solved.queries) if query not in missed]
        followed = [_follows(solved.answers[place], rule.texts) for place in other]
        needed = np.array([1.0] * len(rule.queries) + followed)
        own = self.embedder.embed(rule.queries) @ vector
        chance = _weighted_mean(needed, np.concatenate([own, similarity[other]]))
        return chance + float(self.embedder.embed([rule.text])[0] @ vector)


@dataclass(slots=True)
class _Solved:
    """Queries with answers that are known to be right, and the vectors of the queries."""

    queries: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    answers: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    vectors: deque[Vectors] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def similarity(self, vector: Vectors) -> NDArray[np.float32]:
        if not self.vectors:
            return np.empty(0, dtype=np.float32)
        return np.asarray(np.stack(self.vectors) @ vector)


@lru_cache(maxsize=1 << 16)
def _follows(answer: str, texts: tuple[str, ...]) -> float:
    return float(max(share_named(answer, text) for text in texts) >= MIN_SHARE_NAMED)


def _weighted_mean(needed: NDArray[np.float64], similarity: NDArray[np.float32]) -> float:
    """Return the mean over the nearest, with a prior of one half that little evidence leaves."""
    nearest = np.argsort(-similarity, kind="stable")[:NEIGHBOURS]
    weights = np.exp((similarity[nearest] - 0.5) / SOFTNESS)
    total = float(weights.sum()) + PRIOR_WEIGHT
    return (float(weights @ needed[nearest]) + PRIOR_WEIGHT * PRIOR) / total
