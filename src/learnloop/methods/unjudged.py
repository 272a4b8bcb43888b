"""Remembers what was answered without what was said of it, for methods that use no feedback."""

from __future__ import annotations

from learnloop.memory.memory import Memory
from learnloop.methods.remembering import MODEL
from learnloop.types import Episode, Prediction, Query


def remember_unjudged(memory: Memory, query: Query, prediction: Prediction) -> Episode | None:
    """Store a query with its answer and nothing else; `None` where its episode was there.

    No verdict, comment or correction is kept, so that none can reach a model.
    """
    episode = Episode(
        id=query.id,
        query=query,
        answer=prediction.text,
        rationale=prediction.rationale,
        step=len(memory),
        source=MODEL,
    )
    if memory.get(query.id) is not None or not memory.remember(episode):
        return None
    return episode
