"""What makes two episodes the same, and what an episode's verdict is once it has feedback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from learnloop.errors import ConflictError, UnknownEpisodeError
from learnloop.memory.feedback_in_force import Saying, verdict
from learnloop.types import Episode, Feedback

CORRECTION = ":correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An episode as it stands, and the verdict that it brought itself when it was remembered."""

    episode: Episode
    given: bool | None


def content_hash(episode: Episode) -> str:
    """Return the sha256 of what was asked and answered; when and by whom is not content."""
    query = episode.query
    parts = [episode.id, query.id, query.text, query.context, query.group, episode.answer]
    if query.key or episode.rationale:
        parts += [query.key, episode.rationale]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def given_verdict(episode: Episode) -> bool | None:
    """Return the verdict that an episode brings itself: one without feedback may state it."""
    return None if episode.feedback else episode.correct


def in_force(given: bool | None, feedback: Sequence[Saying]) -> bool | None:
    """Return the verdict on an episode: what its feedback says, else what it brought itself."""
    said = verdict(feedback)
    return given if said is None else said


def distinct(feedback: tuple[Feedback, ...]) -> tuple[Feedback, ...]:
    """Return the feedback without repeated ids; the first of each stays."""
    first: dict[str, Feedback] = {}
    for item in feedback:
        first.setdefault(item.id, item)
    return tuple(first.values())


def check_content(episode: Episode, *, there: str, given: str) -> None:
    """Refuse an episode whose id is taken by other content."""
    if there != given:
        raise ConflictError(
            f"other content is already remembered as episode {episode.id!r}; "
            "memory is append-only, so give the new episode another id"
        )


def check_target(feedback: Feedback, *, there: str, asked: str) -> None:
    """Refuse a feedback whose id is taken by feedback on another episode."""
    if there != asked:
        raise ConflictError(
            f"feedback {feedback.id!r} is already attached to episode {there!r}, so it cannot be "
            f"attached to {asked!r}; give each feedback an id of its own"
        )


def unknown_episode(episode_id: str) -> UnknownEpisodeError:
    """Make the error for feedback on an episode that is not there."""
    return UnknownEpisodeError(
        f"no episode {episode_id!r} is remembered, so feedback on it cannot be kept; "
        "remember the episode first"
    )


def to_erase(episode_ids: Collection[str], query_ids: Collection[str]) -> set[str]:
    """Return which episodes are those of some queries, or corrections of them.

    Examples:
        >>> sorted(to_erase(["a", "a:correction", "a:correction:f2", "a:corrections", "b"], ["a"]))
        ['a', 'a:correction', 'a:correction:f2']
    """
    exact = {*query_ids, *(query_id + CORRECTION for query_id in query_ids)}
    prefixes = tuple(f"{query_id}{CORRECTION}:" for query_id in query_ids)
    return {each for each in episode_ids if each in exact or each.startswith(prefixes)}
