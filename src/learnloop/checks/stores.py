"""What every episode store must do, also those of plugins: call `check_episode_store` on yours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from learnloop.errors import ConflictError, EmbedderMismatchError, UnknownEpisodeError
from learnloop.protocols import EpisodeStore, Vectors
from learnloop.types import Episode, Feedback, Query, Source

DIMENSION = 4
MANY = 2_500

MakeStore = Callable[[], EpisodeStore]


def check_episode_store(make_store: MakeStore) -> None:
    """Run every check; each gets a store of its own.

    Args:
        make_store: Returns a new, empty store for vectors of dimension `DIMENSION`.

    Raises:
        AssertionError: The store breaks the contract; the message says where.

    Examples:
        >>> from learnloop.memory.in_memory import InMemoryStore
        >>> check_episode_store(lambda: InMemoryStore(embedder_name="any", dimension=DIMENSION))
    """
    for check in EPISODE_STORE_CHECKS:
        check(make_store())


def check_every_field_comes_back(store: EpisodeStore) -> None:
    """An episode is read back as it was given."""
    feedback = Feedback(
        id="f1",
        target_id="q1",
        name="stars",
        correct=False,
        value=0.25,
        comment="line one\nline two \u00e4 \U0001f600",
        correction="SELECT 'it''s'",
        observed="5-7",
        source=Source(kind="user", id="ann"),
        confidence=0.5,
        event_time="2026-01-31T12:00:00Z",
        supersedes="f0",
    )
    query = Query(
        id="q1", text="How many?\u2028", context="CREATE TABLE t (a)", group="shop", key="many"
    )
    source = Source(kind="model", id="m")
    given = Episode(
        id="e1",
        query=query,
        answer="",
        step=7,
        source=source,
        correct=False,
        feedback=(feedback,),
        rationale="Count them.",
    )
    _equal(store.add(given, _axis(0)), True, "add of a new episode")
    _equal(store.get("e1"), given, "the episode read back")
    _equal(store.get("e2"), None, "get of an unknown id")


def check_adding_twice_keeps_one(store: EpisodeStore) -> None:
    """The same query and answer under the same id is remembered once, as it was first."""
    _equal(store.add(_episode("e1", step=3), _axis(0)), True, "the first add")
    _equal(store.add(_episode("e1", step=3), _axis(0)), False, "the second add")
    _equal(store.add(_episode("e1", step=4), _axis(0)), False, "the same at a later step")
    _equal(len(store), 1, "the number of episodes")
    _equal(_got(store, "e1").step, 3, "the step of an episode that was added twice")


def check_other_content_is_refused(store: EpisodeStore) -> None:
    """An id never comes to mean something else."""
    store.add(_episode("e1", answer="old"), _axis(0))
    _raises(ConflictError, lambda: store.add(_episode("e1", answer="new"), _axis(0)))
    _equal(len(store), 1, "the number of episodes after a refused add")
    _equal(_got(store, "e1").answer, "old", "the answer after a refused add")


def check_other_dimensions_are_refused(store: EpisodeStore) -> None:
    """A vector of another embedder never enters, nor is searched for."""
    longer = np.array([1.0] + [0.0] * DIMENSION, dtype=np.float32)
    _raises(EmbedderMismatchError, lambda: store.add(_episode("e1"), longer))
    _raises(EmbedderMismatchError, lambda: store.nearest(longer, k=1))
    _equal(len(store), 0, "the number of episodes after a refused add")


def check_feedback_needs_its_episode(store: EpisodeStore) -> None:
    """Feedback on nothing is an error, not a loss."""
    _raises(UnknownEpisodeError, lambda: store.add_feedback("e1", _feedback("f1", True)))


def check_feedback_counts_once(store: EpisodeStore) -> None:
    """The same feedback id again changes nothing, and never moves to another episode."""
    store.add(_episode("e1"), _axis(0))
    store.add(_episode("e2"), _axis(1))
    _equal(store.add_feedback("e1", _feedback("f1", True)), True, "the first add_feedback")
    _equal(store.add_feedback("e1", _feedback("f1", True)), False, "the second add_feedback")
    _equal(len(_got(store, "e1").feedback), 1, "the feedback kept")
    _raises(ConflictError, lambda: store.add_feedback("e2", _feedback("f1", True)))
    _raises(ConflictError, lambda: store.add(_episode("e3", said=[("f1", True)]), _axis(2)))
    _equal(len(store), 2, "the number of episodes after a refused add")


def check_newest_feedback_in_force_decides(store: EpisodeStore) -> None:
    """Superseded feedback does not count, feedback without a view decides nothing."""
    store.add(_episode("e1"), _axis(0))
    story: list[tuple[Feedback, bool | None]] = [
        (_feedback("f1", None), None),
        (_feedback("f2", False), False),
        (_feedback("f3", True), True),
        (_feedback("f4", None), True),
        (_feedback("f5", None, supersedes="f3"), False),
        (_feedback("f6", None, supersedes="f2"), None),
        (_feedback("f7", True, supersedes="f6"), True),
    ]
    for feedback, expected in story:
        store.add_feedback("e1", feedback)
        _equal(_got(store, "e1").correct, expected, f"the verdict after {feedback.id}")
    kept = [feedback.id for feedback in _got(store, "e1").feedback]
    _equal(kept, [feedback.id for feedback, _ in story], "all feedback, oldest first")


def check_an_episode_may_bring_its_verdict(store: EpisodeStore) -> None:
    """Its own feedback decides; without any, `correct` does until feedback has a view."""
    store.add(_episode("e1", said=[("f1", False), ("f2", True)]), _axis(0))
    _equal(_got(store, "e1").correct, True, "the verdict of the episode's own feedback")
    store.add(_episode("e2", correct=True), _axis(1))
    _equal(_got(store, "e2").correct, True, "the verdict given without feedback")
    store.add_feedback("e2", _feedback("f3", False))
    _equal(_got(store, "e2").correct, False, "the verdict once there is feedback")


def check_nearest_is_exact_and_stable(store: EpisodeStore) -> None:
    """Most similar first, ties oldest first, similarity is the cosine."""
    for place, axis in enumerate([3, 0, 1, 0, 1]):
        store.add(_episode(f"e{place}"), _axis(axis))
    asked = np.array([0.6, 0.8, 0.0, 0.0], dtype=np.float32)
    found = store.nearest(asked, k=4)
    _equal([m.episode.id for m in found], ["e2", "e4", "e1", "e3"], "the order of nearest")
    for match, cosine in zip(found, [0.8, 0.8, 0.6, 0.6], strict=True):
        _near(match.similarity, cosine, f"the similarity of {match.episode.id}")
    _equal(len(store.nearest(asked, k=99)), 5, "the number found with a k above all")
    _equal(store.nearest(asked, k=0), [], "what is found with k=0")


def check_nearest_filters(store: EpisodeStore) -> None:
    """Outcome and group narrow the search, and outcomes follow later feedback."""
    for place, said in enumerate([True, False, None, True]):
        query_group = "a" if place < 2 else "b"
        store.add(_episode(f"e{place}", correct=said, group=query_group), _axis(0))

    def found(**filters: str) -> list[str]:
        matches = store.nearest(_axis(0), k=9, **filters)  # type: ignore[arg-type]
        return [match.episode.id for match in matches]

    _equal(found(outcome="right"), ["e0", "e3"], "the right ones")
    _equal(found(outcome="wrong"), ["e1"], "the wrong ones")
    _equal(found(outcome="unknown"), ["e2"], "those without a verdict")
    _equal(found(group="a"), ["e0", "e1"], "those of a group")
    _equal(found(group="b", outcome="right"), ["e3"], "the right ones of a group")
    _equal(found(group="c"), [], "those of a group that is not there")
    store.add_feedback("e0", _feedback("f1", False))
    _equal(found(outcome="wrong"), ["e0", "e1"], "the wrong ones after feedback")
    _equal(found(outcome="right"), ["e3"], "the right ones after feedback")


def check_recent_is_by_age(store: EpisodeStore) -> None:
    """The newest, oldest of them first; age is the order of adding."""
    for place, said in enumerate([True, False, True, None]):
        store.add(_episode(f"e{place}", correct=said, step=9 - place), _axis(place))
    _equal([e.id for e in store.recent(k=2)], ["e2", "e3"], "the two newest")
    _equal([e.id for e in store.recent(k=9, outcome="right")], ["e0", "e2"], "the right ones")
    _equal(store.recent(k=0), [], "the newest with k=0")


def check_arguments_stay_apart(store: EpisodeStore) -> None:
    """The store neither changes a vector that it is given nor depends on it later."""
    vector = _axis(0)
    store.add(_episode("e1"), vector)
    _equal(vector.tolist(), _axis(0).tolist(), "the vector after add")
    vector[:] = _axis(1)
    _near(store.nearest(_axis(0), k=1)[0].similarity, 1.0, "the similarity after a change outside")


def check_many_episodes(store: EpisodeStore) -> None:
    """It grows past any first size and still finds the one that fits."""
    for place in range(MANY):
        store.add(_episode(f"e{place}"), _axis(0 if place == MANY - 2 else 1))
    _equal(len(store), MANY, "the number of episodes")
    best = store.nearest(_axis(0), k=1)[0].episode.id
    _equal(best, f"e{MANY - 2}", "the nearest of many")


def check_erasing_leaves_nothing(store: EpisodeStore) -> None:
    """Episodes go with their corrections and feedback; the others stay as they were."""
    names = ["a", "b", "a:correction", "b:correction", "a:correction:f9", "a:corrections", "c"]
    for place, name in enumerate(names):
        store.add(_episode(name, said=[(f"{name}/f", place % 2 == 0)]), _axis(place % 2))
    before = [_got(store, name) for name in ("b", "b:correction", "a:corrections", "c")]
    _equal(store.erase(["a", "unknown"]), 3, "how many episodes were erased")
    _equal(store.erase(["a"]), 0, "how many were erased the second time")
    _equal(store.erase([]), 0, "how many of no ids were erased")
    _equal(len(store), 4, "the number of episodes left")
    _equal(store.recent(k=9), before, "the episodes left, oldest first")
    _equal(store.get("a"), None, "get of an erased id")
    found = [match.episode.id for match in store.nearest(_axis(1), k=9, outcome="wrong")]
    _equal(found, ["b", "b:correction", "a:corrections"], "the wrong ones left, nearest first")
    _raises(UnknownEpisodeError, lambda: store.add_feedback("a", _feedback("f1", True)))


def check_memory_goes_on_after_erasing(store: EpisodeStore) -> None:
    """Erased ids may come again, with other content, also those of the newest episodes."""
    for place, name in enumerate(["a", "b", "c"]):
        store.add(_episode(name, said=[(f"{name}/f", True)]), _axis(place))
    store.erase(["b", "c"])
    _equal(store.add(_episode("c", answer="8", said=[("b/f", False)]), _axis(3)), True, "add")
    store.add(_episode("d"), _axis(1))
    store.add_feedback("d", _feedback("c/f", True))
    _equal([e.id for e in store.recent(k=9)], ["a", "c", "d"], "the episodes, oldest first")
    _equal([e.id for e in store.recent(k=9, outcome="right")], ["a", "d"], "the right ones")
    _equal(store.nearest(_axis(3), k=1)[0].episode.answer, "8", "the answer of the nearest")
    _equal(store.nearest(_axis(1), k=1)[0].episode.id, "d", "the nearest to what was added last")


EPISODE_STORE_CHECKS: tuple[Callable[[EpisodeStore], None], ...] = (
    check_every_field_comes_back,
    check_adding_twice_keeps_one,
    check_other_content_is_refused,
    check_other_dimensions_are_refused,
    check_feedback_needs_its_episode,
    check_feedback_counts_once,
    check_newest_feedback_in_force_decides,
    check_an_episode_may_bring_its_verdict,
    check_nearest_is_exact_and_stable,
    check_nearest_filters,
    check_recent_is_by_age,
    check_arguments_stay_apart,
    check_many_episodes,
    check_erasing_leaves_nothing,
    check_memory_goes_on_after_erasing,
)


def _episode(
    episode_id: str,
    *,
    answer: str = "7",
    group: str = "",
    step: int = 0,
    correct: bool | None = None,
    said: Sequence[tuple[str, bool]] = (),
) -> Episode:
    return Episode(
        id=episode_id,
        query=Query(id=f"{episode_id}-query", text="How many?", group=group),
        answer=answer,
        step=step,
        source=Source(kind="model"),
        correct=correct,
        feedback=tuple(_feedback(feedback_id, verdict) for feedback_id, verdict in said),
    )


def _feedback(feedback_id: str, correct: bool | None, *, supersedes: str | None = None) -> Feedback:
    return Feedback(id=feedback_id, target_id="any", correct=correct, supersedes=supersedes)


def _axis(place: int) -> Vectors:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[place] = 1.0
    return vector


def _got(store: EpisodeStore, episode_id: str) -> Episode:
    episode = store.get(episode_id)
    assert episode is not None, f"episode {episode_id!r} was added but get returns None"
    return episode


def _equal(found: object, expected: object, what: str) -> None:
    assert found == expected, f"{what}: expected {expected!r}, got {found!r}"


def _near(found: float, expected: float, what: str) -> None:
    assert abs(found - expected) < 1e-6, f"{what}: expected about {expected!r}, got {found!r}"


def _raises(error: type[Exception], act: Callable[[], object]) -> None:
    try:
        act()
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected, nothing was raised")
