"""Which episodes may help with a query: right, wrong, both, any, recent, or the published way.

Every retriever puts the most similar (or newest) episode last and leaves out the episodes of the
very same query. All but the published one take only the newest of those with the same query text
and answer, and fill the freed places from further down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learnloop.memory.memory import Memory
from learnloop.types import Episode, Match, Outcome, Query

POOL_FACTOR = 10
WINDOW_FACTOR = 2
WINDOW_EXTRA = 4
WINDOW_GROWTH = 4


class Right:
    """The most similar episodes whose answer was right.

    Args:
        memory: Where to look.
        group: Look only at episodes of the query's own group.
        min_similarity: Leave out episodes that are less similar than this.
    """

    def __init__(
        self, *, memory: Memory, group: bool = False, min_similarity: float | None = None
    ) -> None:
        self.search = _Search(memory=memory, group=group, min_similarity=min_similarity)

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        return _most_similar_last(self.search.nearest(query, k=k, outcome="right"))


class Wrong:
    """The most similar episodes whose answer was wrong; never for the answering model.

    Args:
        memory: Where to look.
        group: Look only at episodes of the query's own group.
        min_similarity: Leave out episodes that are less similar than this.
    """

    def __init__(
        self, *, memory: Memory, group: bool = False, min_similarity: float | None = None
    ) -> None:
        self.search = _Search(memory=memory, group=group, min_similarity=min_similarity)

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        return _most_similar_last(self.search.nearest(query, k=k, outcome="wrong"))


class Similar:
    """The most similar episodes whatever their outcome, known or not.

    Args:
        memory: Where to look.
        group: Look only at episodes of the query's own group.
        min_similarity: Leave out episodes that are less similar than this.
    """

    def __init__(
        self, *, memory: Memory, group: bool = False, min_similarity: float | None = None
    ) -> None:
        self.search = _Search(memory=memory, group=group, min_similarity=min_similarity)

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        return _most_similar_last(self.search.nearest(query, k=k, outcome=None))


class Contrastive:
    """Half right and half wrong episodes, each half the nearest of its own class.

    An odd k gives the extra one to the right episodes. A class that has too few leaves its
    places empty. `Episode.correct` tells the two apart.

    Args:
        memory: Where to look.
        group: Look only at episodes of the query's own group.
        min_similarity: Leave out episodes that are less similar than this.
    """

    def __init__(
        self, *, memory: Memory, group: bool = False, min_similarity: float | None = None
    ) -> None:
        self.search = _Search(memory=memory, group=group, min_similarity=min_similarity)

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        right = self.search.nearest(query, k=k - k // 2, outcome="right")
        wrong = self.search.nearest(query, k=k // 2, outcome="wrong")
        return _most_similar_last([*right, *wrong])


class Recent:
    """The newest episodes, newest last.

    Args:
        memory: Where to look.
        outcome: Take only episodes of this outcome; `None` takes all.
        group: Take only episodes of the query's own group.
    """

    def __init__(
        self, *, memory: Memory, outcome: Outcome | None = None, group: bool = False
    ) -> None:
        self.memory = memory
        self.outcome = outcome
        self.group = group

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        window = _first_window(k)
        while True:
            found = self.memory.recent(k=window, outcome=self.outcome)
            kept: dict[tuple[str, str], Episode] = {}
            for episode in reversed(found):
                if self._fits(episode, query):
                    kept.setdefault(_identity(episode), episode)
            if len(kept) >= k or len(found) < window:
                return tuple(reversed(list(kept.values())[: max(k, 0)]))
            window *= WINDOW_GROWTH

    def _fits(self, episode: Episode, query: Query) -> bool:
        same_group = episode.query.group == query.group
        return episode.query.id != query.id and (same_group or not self.group)


class CommonPool:
    """The published variant: the 10 k nearest of any outcome first, then the wanted ones of them.

    As memory fills with right episodes, wrong ones drop out of such a pool, so it serves the
    published ablation only. Duplicates stay, as published.

    Args:
        memory: Where to look.
        outcome: Which to take of the pool; `None` takes half right and half wrong ones.
        pool: Size of the pool; `None` is 10 k.
    """

    def __init__(
        self, *, memory: Memory, outcome: Outcome | None = None, pool: int | None = None
    ) -> None:
        self.memory = memory
        self.outcome = outcome
        self.pool = pool

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        size = POOL_FACTOR * k if self.pool is None else self.pool
        pool = [m for m in self.memory.nearest(query, k=size) if m.episode.query.id != query.id]
        if self.outcome is not None:
            return _most_similar_last(_of_outcome(pool, self.outcome)[:k])
        right, wrong = _of_outcome(pool, "right"), _of_outcome(pool, "wrong")
        return _most_similar_last([*right[: k - k // 2], *wrong[: k // 2]])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """How the retrievers by similarity look: where, in which group, and how near at least."""

    memory: Memory
    group: bool
    min_similarity: float | None

    def nearest(self, query: Query, *, k: int, outcome: Outcome | None) -> list[Match]:
        """Return at most k distinct matches, most similar first, looking as far as needed."""
        least = -1.0 if self.min_similarity is None else self.min_similarity
        group = query.group if self.group else None
        window = _first_window(k)
        while k > 0:
            found = self.memory.nearest(query, k=window, outcome=outcome, group=group)
            others = [m for m in found if m.episode.query.id != query.id and m.similarity >= least]
            kept = _newest_of_each(others)
            ended = len(found) < window or found[-1].similarity < least
            # Equally similar episodes may follow, and one of them be a newer duplicate.
            if ended or (len(kept) >= k and found[-1].similarity < kept[k - 1].similarity):
                return kept[:k]
            window *= WINDOW_GROWTH
        return []


def _first_window(k: int) -> int:
    return WINDOW_FACTOR * max(k, 0) + WINDOW_EXTRA


def _newest_of_each(matches: Sequence[Match]) -> list[Match]:
    """Collapse duplicates; `matches` are most similar first, equally similar ones oldest first."""
    newest: dict[tuple[str, str], Match] = {}
    for match in matches:
        identity = _identity(match.episode)
        rival = newest.get(identity)
        if rival is None or match.episode.step >= rival.episode.step:
            newest.pop(identity, None)  # so that equally similar ones stay in order of age
            newest[identity] = match
    return sorted(newest.values(), key=lambda match: -match.similarity)


def _identity(episode: Episode) -> tuple[str, str]:
    return _plain(episode.query.text), _plain(episode.answer)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _of_outcome(matches: Iterable[Match], outcome: Outcome) -> list[Match]:
    correct = {"right": True, "wrong": False, "unknown": None}[outcome]
    return [match for match in matches if match.episode.correct is correct]


def _most_similar_last(matches: Iterable[Match]) -> tuple[Episode, ...]:
    ordered = sorted(matches, key=lambda match: -match.similarity)
    return tuple(match.episode for match in reversed(ordered))
