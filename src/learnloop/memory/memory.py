"""What methods remember with: a store and the embedder that its vectors come from, as one."""

from __future__ import annotations

from collections.abc import Collection

from learnloop.memory.embedders.caching import CachingEmbedder
from learnloop.protocols import Embedder, EpisodeStore
from learnloop.types import Episode, Feedback, Match, Outcome, Query


class Memory:
    """Remembers episodes by the text (or key) of their query and finds them by similar text.

    Args:
        store: Where episodes are kept; made for this embedder.
        embedder: Turns query texts into vectors. Each recent text is embedded only once.
    """

    def __init__(self, *, store: EpisodeStore, embedder: Embedder) -> None:
        self.store = store
        self.embedder: Embedder = CachingEmbedder(embedder=embedder)

    def __len__(self) -> int:
        return len(self.store)

    def remember(self, episode: Episode) -> bool:
        """Remember an episode; `False` if it was there."""
        key = episode.query.key or episode.query.text
        return self.store.add(episode, self.embedder.embed([key])[0])

    def add_feedback(self, episode_id: str, feedback: Feedback) -> bool:
        """Attach feedback to an episode; `False` if that feedback was there."""
        return self.store.add_feedback(episode_id, feedback)

    def get(self, episode_id: str) -> Episode | None:
        """Return an episode with the feedback in force, `None` where there is none."""
        return self.store.get(episode_id)

    def nearest(
        self, query: Query, *, k: int, outcome: Outcome | None = None, group: str | None = None
    ) -> list[Match]:
        """Return the k episodes with the most similar query text, most similar first."""
        vector = self.embedder.embed([query.text])[0]
        return self.store.nearest(vector, k=k, outcome=outcome, group=group)

    def recent(self, *, k: int, outcome: Outcome | None = None) -> list[Episode]:
        """Return the k newest episodes, oldest first."""
        return self.store.recent(k=k, outcome=outcome)

    def erase(self, query_ids: Collection[str]) -> int:
        """Remove the episodes of some queries for good; return how many, corrections included."""
        return self.store.erase(query_ids)
