"""Turns feedback into episodes: what the model answered, and what somebody corrected it to."""

from __future__ import annotations

from learnloop.memory.memory import Memory
from learnloop.types import Episode, Feedback, Prediction, Query, Source

MODEL = Source(kind="model")


def remember(memory: Memory, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
    """Store the feedback with its episode and return the episode as it stands now.

    The first feedback on a prediction makes the episode; later ones are added to it. The newest
    correction in force is remembered as an episode of its own: a right answer, from the source
    that gave it. Corrections that it replaces count as wrong from then on.
    """
    if memory.get(query.id) is None:
        memory.remember(episode_of(query, prediction, feedback, step=len(memory)))
    else:
        memory.add_feedback(query.id, feedback)
    stored = memory.get(query.id)
    assert stored is not None
    _remember_corrections(memory, stored)
    return stored


def episode_of(
    query: Query, prediction: Prediction, feedback: Feedback, *, step: int = 0
) -> Episode:
    """Return the episode that one feedback makes of a prediction, without storing it."""
    return Episode(
        id=query.id,
        query=query,
        answer=prediction.text,
        rationale=prediction.rationale,
        step=step,
        source=MODEL,
        correct=feedback.correct,
        feedback=(feedback,),
    )


def _remember_corrections(memory: Memory, episode: Episode) -> None:
    """Have the correction in force count as right and every other one as wrong."""
    replaced = {feedback.supersedes for feedback in episode.feedback}
    in_force = [f for f in episode.feedback if f.correction and f.id not in replaced]
    newest = in_force[-1] if in_force else None
    for answer, episode_id in _correction_ids(episode).items():
        known = memory.get(episode_id)
        right = newest is not None and answer == newest.correction
        if known is not None and known.correct is not right:
            memory.add_feedback(episode_id, _judgement(episode, episode_id, right=right))
        elif known is None and newest is not None and right:
            memory.remember(_correction(episode, newest, episode_id, step=len(memory)))


def _correction_ids(episode: Episode) -> dict[str, str]:
    """Return the id of the episode that each correction has, by its answer, oldest first.

    One that repeats the answer is none: whether that was right is for `correct` to say.
    """
    ids: dict[str, str] = {}
    for feedback in episode.feedback:
        answer = feedback.correction
        if answer and answer != episode.answer and answer not in ids:
            first = f"{episode.id}:correction"
            ids[answer] = f"{first}:{feedback.id}" if ids else first
    return ids


def _correction(episode: Episode, given: Feedback, episode_id: str, *, step: int) -> Episode:
    return Episode(
        id=episode_id,
        query=episode.query,
        answer=given.correction or "",
        step=step,
        source=given.source,
        correct=True,
        feedback=(_judgement(episode, episode_id, right=True),),
    )


def _judgement(episode: Episode, episode_id: str, *, right: bool) -> Feedback:
    """Return what the newest feedback means for a correction."""
    newest = episode.feedback[-1]
    return Feedback(
        id=f"{newest.id}:{'correction' if right else 'withdrawal'}:{episode_id}",
        target_id=episode_id,
        correct=right,
        source=newest.source,
        event_time=newest.event_time,
    )
