"""How well a rule fits a query, judged by where it was missed and by what right answers contain."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

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
        self._profiles: dict[int, _Profile] = {}

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
        self._profiles = {}
        for group, given in right_answers.items():
            self._keep(given, group=group)

    def _keep(self, given: Sequence[RightAnswer], *, group: str) -> None:
        solved = self._solved.setdefault(group, _Solved())
        solved.kept += len(given)
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
        return [self._score(self._profile(rule, solved), vector, similarity) for rule in rules]

    def _score(self, profile: _Profile, vector: Vectors, similarity: NDArray[np.float32]) -> float:
        own = profile.query_vectors @ vector
        chance = _weighted_mean(profile.needed, np.concatenate([own, similarity[profile.other]]))
        return chance + float(profile.text_vector @ vector)

    def _profile(self, rule: Rule, solved: _Solved) -> _Profile:
        """Return what is known of a rule, brought up to date."""
        profile = self._profiles.get(rule.id)
        if profile is None or not profile.is_of(rule):
            profile = _Profile(
                rule=rule,
                query_vectors=self.embedder.embed(rule.queries),
                text_vector=self.embedder.embed([rule.text])[0],
            )
            self._profiles[rule.id] = profile
        profile.catch_up(solved)
        return profile


@dataclass(slots=True)
class _Solved:
    """Queries with answers that are known to be right, and the vectors of the queries.

    `kept` counts all that there ever were.
    """

    kept: int = 0
    queries: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    answers: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    vectors: deque[Vectors] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def similarity(self, vector: Vectors) -> NDArray[np.float32]:
        if not self.vectors:
            return np.empty(0, dtype=np.float32)
        return np.asarray(np.stack(self.vectors) @ vector)


@dataclass(slots=True, kw_only=True)
class _Profile:
    """What is needed of a rule to score it for any query, so that it is worked out only once.

    `followed` says of each right answer whether it names the rule's details, `other` are the
    places of those whose query the rule was not missed in, and `needed` stands beside the
    similarities of the rule's own queries and of those.
    """

    rule: Rule
    query_vectors: Vectors
    text_vector: Vectors
    followed: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    other: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    needed: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    kept: int = -1

    def is_of(self, rule: Rule) -> bool:
        """Whether a rule says what this one said, and was missed in the same queries."""
        return (self.rule.texts, self.rule.queries) == (rule.texts, rule.queries)

    def catch_up(self, solved: _Solved) -> None:
        """Take in the right answers that came since the last time."""
        if self.kept == solved.kept:
            return
        new = min(solved.kept - max(self.kept, 0), len(solved.answers))
        answers = islice(solved.answers, len(solved.answers) - new, None)
        self.followed.extend(_follows(answer, self.rule.texts) for answer in answers)
        missed = set(self.rule.queries)
        other = [place for place, query in enumerate(solved.queries) if query not in missed]
        self.other = np.array(other, dtype=np.intp)
        own = [1.0] * len(self.rule.queries)
        self.needed = np.array(own + [self.followed[place] for place in other])
        self.kept = solved.kept


def _follows(answer: str, texts: tuple[str, ...]) -> float:
    return float(max(share_named(answer, text) for text in texts) >= MIN_SHARE_NAMED)


def _weighted_mean(needed: NDArray[np.float64], similarity: NDArray[np.float32]) -> float:
    """Return the mean over the nearest, with a prior of one half that little evidence leaves."""
    nearest = np.argsort(-similarity, kind="stable")[:NEIGHBOURS]
    weights = np.exp((similarity[nearest] - 0.5) / SOFTNESS)
    total = float(weights.sum()) + PRIOR_WEIGHT
    return (float(weights @ needed[nearest]) + PRIOR_WEIGHT * PRIOR) / total
