"""Turns feedback into episodes: what the model answered, and what somebody corrected it to."""

from __future__ import annotations

from learnloop.memory.memory import Memory
from learnloop.types import Episode, Feedback, Prediction, Query, Source

MODEL = Source(kind="model")


def remember(memory: Memory, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
    """Store the feedback with its episode and return the episode as it stands now.

    The first feedback on a prediction makes the episode; later ones are added to it. A
    correction enters memory as a second episode: a right answer, from the source that gave it.
    """
    known = memory.get(query.id)
    if known is None:
        memory.remember(
            Episode(
                id=query.id,
                query=query,
                answer=prediction.text,
                step=len(memory),
                source=MODEL,
                correct=feedback.correct,
                feedback=(feedback,),
            )
        )
    else:
        memory.add_feedback(query.id, feedback)
    if feedback.correction:
        _remember_correction(memory, query, feedback)
    stored = memory.get(query.id)
    assert stored is not None
    return stored


def _remember_correction(memory: Memory, query: Query, feedback: Feedback) -> None:
    correction = feedback.correction or ""
    episode_id = f"{query.id}:correction"
    known = memory.get(episode_id)
    if known is not None and known.answer != correction:
        _withdraw(memory, known, feedback)
        episode_id = f"{episode_id}:{feedback.id}"
    approval = Feedback(
        id=f"{feedback.id}:correction",
        target_id=episode_id,
        correct=True,
        source=feedback.source,
        event_time=feedback.event_time,
    )
    memory.remember(
        Episode(
            id=episode_id,
            query=query,
            answer=correction,
            step=len(memory),
            source=feedback.source,
            correct=True,
            feedback=(approval,),
        )
    )


def _withdraw(memory: Memory, known: Episode, feedback: Feedback) -> None:
    """Mark an earlier correction as no longer right, now that another one has come."""
    withdrawal = Feedback(
        id=f"{feedback.id}:withdrawal",
        target_id=known.id,
        correct=False,
        source=feedback.source,
        supersedes=known.feedback[-1].id if known.feedback else None,
    )
    memory.add_feedback(known.id, withdrawal)
