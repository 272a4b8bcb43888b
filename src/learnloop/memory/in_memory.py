"""Episodes in the process alone: for short runs and tests; the SQLite store's exact twin."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from learnloop.memory.contents import (
    Kept,
    check_content,
    check_target,
    content_hash,
    distinct,
    given_verdict,
    in_force,
    to_erase,
    unknown_episode,
)
from learnloop.memory.vector_index import VectorIndex, check_vectors
from learnloop.protocols import Vectors
from learnloop.types import Episode, Feedback, Match, Outcome


class InMemoryStore:
    """Remembers episodes until the process ends. Safe to call from several threads.

    Examples:
        >>> import numpy as np
        >>> from learnloop.types import Query, Source
        >>> store = InMemoryStore(embedder_name="by-hand", dimension=2)
        >>> query = Query(id="q1", text="How many orders?")
        >>> episode = Episode(
        ...     id="e1", query=query, answer="7", step=1, source=Source(kind="model")
        ... )
        >>> store.add(episode, np.array([1, 0], dtype=np.float32))
        True
        >>> store.add_feedback("e1", Feedback(id="f1", target_id="q1", correct=True))
        True
        >>> store.nearest(np.array([0.8, 0.6], dtype=np.float32), k=1)[0].episode.correct
        True
    """

    def __init__(self, *, embedder_name: str, dimension: int) -> None:
        self.embedder_name = embedder_name
        self.dimension = dimension
        self._index = VectorIndex(dimension=dimension)
        self._episodes: list[Episode] = []
        self._hashes: dict[str, str] = {}
        self._given: list[bool | None] = []
        self._positions: dict[str, int] = {}
        self._feedback_targets: dict[str, str] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._episodes)

    def add(self, episode: Episode, vector: Vectors) -> bool:
        return self.add_many((episode,), vector[np.newaxis]) == 1

    def add_many(self, episodes: Sequence[Episode], vectors: Vectors) -> int:
        """Remember several at once, all or none, and return how many were new."""
        rows = check_vectors(vectors, dimension=self.dimension, count=len(episodes))
        with self._lock:
            fresh = self._fresh(episodes)
            for place in fresh:
                self._keep(episodes[place])
            kept = self._episodes[len(self._index) :]
            self._index.extend(
                rows[fresh],
                verdicts=[episode.correct for episode in kept],
                groups=[episode.query.group for episode in kept],
            )
            return len(fresh)

    def add_feedback(self, episode_id: str, feedback: Feedback) -> bool:
        with self._lock:
            position = self._positions.get(episode_id)
            if position is None:
                raise unknown_episode(episode_id)
            there = self._feedback_targets.get(feedback.id)
            if there is not None:
                check_target(feedback, there=there, asked=episode_id)
                return False
            self._feedback_targets[feedback.id] = episode_id
            old = self._episodes[position]
            said = (*old.feedback, feedback)
            new = replace(old, correct=in_force(self._given[position], said), feedback=said)
            self._episodes[position] = new
            self._index.judge(position, new.correct)
            return True

    def get(self, episode_id: str) -> Episode | None:
        with self._lock:
            position = self._positions.get(episode_id)
            return None if position is None else self._episodes[position]

    def nearest(
        self, vector: Vectors, *, k: int, outcome: Outcome | None = None, group: str | None = None
    ) -> list[Match]:
        asked = check_vectors(vector[np.newaxis], dimension=self.dimension, count=1)[0]
        with self._lock:
            hits = self._index.nearest(asked, k=k, outcome=outcome, group=group)
            return [
                Match(episode=self._episodes[hit.position], similarity=hit.similarity)
                for hit in hits
            ]

    def recent(self, *, k: int, outcome: Outcome | None = None) -> list[Episode]:
        with self._lock:
            return [self._episodes[place] for place in self._index.newest(k=k, outcome=outcome)]

    def walk(self) -> Iterator[Kept]:
        """Go through all episodes as they stand now, oldest first."""
        with self._lock:
            kept = [
                Kept(episode=episode, given=given)
                for episode, given in zip(self._episodes, self._given, strict=True)
            ]
        return iter(kept)

    def erase(self, query_ids: Collection[str]) -> int:
        """Forget the episodes of some queries with their corrections and feedback."""
        with self._lock:
            gone = to_erase(self._positions, query_ids)
            self._index.drop(sorted(self._positions[each] for each in gone))
            old = self._episodes
            self._given = [
                given for each, given in zip(old, self._given, strict=True) if each.id not in gone
            ]
            self._episodes = [each for each in old if each.id not in gone]
            self._positions = {each.id: place for place, each in enumerate(self._episodes)}
            for episode_id in gone:
                del self._hashes[episode_id]
            self._feedback_targets = {
                said: about for said, about in self._feedback_targets.items() if about not in gone
            }
            return len(gone)

    def _fresh(self, episodes: Sequence[Episode]) -> list[int]:
        """Return the places of the episodes that are new, or raise before anything changed."""
        hashes: dict[str, str] = {}
        targets: dict[str, str] = {}
        fresh = []
        for place, episode in enumerate(episodes):
            digest = content_hash(episode)
            there = hashes.get(episode.id) or self._hashes.get(episode.id)
            if there is not None:
                check_content(episode, there=there, given=digest)
                continue
            for feedback in episode.feedback:
                target = targets.get(feedback.id) or self._feedback_targets.get(feedback.id)
                check_target(feedback, there=target or episode.id, asked=episode.id)
                targets[feedback.id] = episode.id
            hashes[episode.id] = digest
            fresh.append(place)
        return fresh

    def _keep(self, episode: Episode) -> None:
        given = given_verdict(episode)
        said = distinct(episode.feedback)
        kept = replace(episode, correct=in_force(given, said), feedback=said)
        self._positions[kept.id] = len(self._episodes)
        self._episodes.append(kept)
        self._given.append(given)
        self._hashes[kept.id] = content_hash(kept)
        self._feedback_targets.update(dict.fromkeys((f.id for f in kept.feedback), kept.id))
