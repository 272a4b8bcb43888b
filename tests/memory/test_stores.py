"""Both stores against a model in plain Python: same calls, same answers, also after reopening."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ConflictError
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.sqlite import SQLiteStore
from learnloop.types import Episode, Feedback, Query, Source

HALVES = [
    [a, b, c, d] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5) for d in (-0.5, 0.5)
]
AXES = [
    [sign if place == axis else 0.0 for place in range(4)]
    for axis in range(4)
    for sign in (-1.0, 1.0)
]
DIRECTIONS = HALVES + AXES  # of length 1, with dot products that floating point gives exactly

directions = st.sampled_from(DIRECTIONS)
verdicts = st.sampled_from([True, False, None])
outcomes = st.sampled_from([None, "right", "wrong", "unknown"])
groups = st.sampled_from(["", "shop", "clinic"])
feedback_ids = st.integers(0, 12)
adds = st.fixed_dictionaries(
    {
        "name": st.integers(0, 15),
        "direction": directions,
        "group": groups,
        "given": verdicts,
        "feedback": st.lists(st.tuples(feedback_ids, verdicts), max_size=2),
    }
)
sayings = st.fixed_dictionaries(
    {
        "name": st.integers(0, 15),
        "id": feedback_ids,
        "correct": verdicts,
        "supersedes": st.none() | feedback_ids,
    }
)
searches = st.fixed_dictionaries(
    {
        "direction": directions,
        "k": st.integers(0, 9),
        "outcome": outcomes,
        "group": st.none() | groups,
    }
)
lists = st.fixed_dictionaries({"k": st.integers(0, 9), "outcome": outcomes})
operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), adds),
        st.tuples(st.just("say"), sayings),
        st.tuples(st.just("nearest"), searches),
        st.tuples(st.just("recent"), lists),
    ),
    max_size=40,
)


def episode_of(call):
    feedback = tuple(
        Feedback(id=f"f{number}", target_id="t", correct=correct)
        for number, correct in call["feedback"]
    )
    return Episode(
        id=f"e{call['name']}",
        query=Query(id=f"q{call['name']}", text="?", group=call["group"]),
        answer="a",
        step=1,
        source=Source(kind="model"),
        correct=call["given"],
        feedback=feedback,
    )


class PlainModel:
    """The contract once more, as slow and as plain as can be."""

    def __init__(self):
        self.rows = []

    def find(self, episode_id):
        return next((row for row in self.rows if row["episode"].id == episode_id), None)

    def owner(self, feedback_id):
        for row in self.rows:
            if any(item.id == feedback_id for item in row["said"]):
                return row["episode"].id
        return None

    def add(self, episode, direction):
        there = self.find(episode.id)
        if there is not None:
            same = there["episode"].query == episode.query
            return False if same else ConflictError
        if any(self.owner(item.id) for item in episode.feedback):
            return ConflictError
        said = []
        for item in episode.feedback:
            if item.id not in [other.id for other in said]:
                said.append(item)
        given = None if episode.feedback else episode.correct
        self.rows.append({"episode": episode, "direction": direction, "given": given, "said": said})
        return True

    def say(self, episode_id, feedback):
        row = self.find(episode_id)
        if row is None:
            return LookupError
        owner = self.owner(feedback.id)
        if owner is not None:
            return False if owner == episode_id else ConflictError
        row["said"].append(feedback)
        return True

    def correct(self, row):
        result = row["given"]
        for item in row["said"]:
            replaced = any(o.supersedes == item.id and o.id != item.id for o in row["said"])
            if not replaced and item.correct is not None:
                result = item.correct
        return result

    def as_read(self, row):
        return replace(row["episode"], correct=self.correct(row), feedback=tuple(row["said"]))

    def passing(self, outcome, group):
        wanted = {"right": True, "wrong": False, "unknown": None}
        for row in self.rows:
            right_outcome = outcome is None or self.correct(row) is wanted[outcome]
            if right_outcome and (group is None or row["episode"].query.group == group):
                yield row

    def nearest(self, direction, k, outcome, group):
        def similarity(row):
            return sum(a * b for a, b in zip(row["direction"], direction, strict=True))

        ranked = sorted(self.passing(outcome, group), key=lambda row: -similarity(row))
        return [(self.as_read(row), similarity(row)) for row in ranked[:k]]

    def recent(self, k, outcome):
        rows = list(self.passing(outcome, None))
        return [self.as_read(row) for row in rows[max(0, len(rows) - k) :]]


def outcome_of(act):
    try:
        return act()
    except (ConflictError, LookupError) as error:
        return ConflictError if isinstance(error, ConflictError) else LookupError


def answers(store, name, call):
    """What a store answers to one call, in the shape that `expected` has."""
    if name == "add":
        vector = np.array(call["direction"], dtype=np.float32)
        return outcome_of(lambda: store.add(episode_of(call), vector))
    if name == "say":
        return outcome_of(lambda: store.add_feedback(f"e{call['name']}", feedback_of(call)))
    if name == "recent":
        return store.recent(**call)
    options = {key: value for key, value in call.items() if key != "direction"}
    found = store.nearest(np.array(call["direction"], dtype=np.float32), **options)
    return [(match.episode, match.similarity) for match in found]


def expected(model, name, call):
    if name == "add":
        return model.add(episode_of(call), call["direction"])
    if name == "say":
        return model.say(f"e{call['name']}", feedback_of(call))
    return getattr(model, name)(**call)


def feedback_of(call):
    supersedes = None if call["supersedes"] is None else f"f{call['supersedes']}"
    return Feedback(
        id=f"f{call['id']}", target_id="t", correct=call["correct"], supersedes=supersedes
    )


@settings(deadline=None, max_examples=80)
@given(calls=operations)
def test_both_stores_do_what_the_plain_model_does(calls):
    model = PlainModel()
    in_memory = InMemoryStore(embedder_name="by-hand", dimension=4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with SQLiteStore(path, embedder_name="by-hand", dimension=4) as on_disk:
            for name, call in calls:
                want = expected(model, name, call)
                assert answers(in_memory, name, call) == want
                assert answers(on_disk, name, call) == want
        with SQLiteStore(path, embedder_name="by-hand", dimension=4) as again:
            assert len(again) == len(in_memory) == len(model.rows)
            everything = {"direction": AXES[0], "k": 99, "outcome": None, "group": None}
            assert answers(again, "nearest", everything) == model.nearest(**everything)
            for outcome in ("right", "wrong", "unknown"):
                assert again.recent(k=99, outcome=outcome) == model.recent(99, outcome)


def check_all_or_nothing(store):
    call = {"direction": AXES[0], "group": "", "given": None, "feedback": []}
    one, two, three = (episode_of(call | {"name": name}) for name in (1, 2, 3))
    vectors = np.array([AXES[0]] * 3, dtype=np.float32)
    assert store.add_many([one, two, one], vectors) == 2
    with pytest.raises(ConflictError):
        store.add_many([three, replace(one, answer="other")], vectors[:2])
    four, five = (episode_of(call | {"name": n, "feedback": [(7, True)]}) for n in (4, 5))
    with pytest.raises(ConflictError, match="'f7' is already attached to episode 'e4'"):
        store.add_many([four, five], vectors[:2])
    assert [episode.id for episode in store.recent(k=9)] == ["e1", "e2"]
    assert store.add_many([two, three], vectors[:2]) == 1
    assert [episode.id for episode in store.recent(k=9)] == ["e1", "e2", "e3"]


def test_adding_many_is_all_or_nothing_in_memory():
    check_all_or_nothing(InMemoryStore(embedder_name="by-hand", dimension=4))


def test_adding_many_is_all_or_nothing_on_disk(tmp_path):
    with SQLiteStore(tmp_path / "memory.db", embedder_name="by-hand", dimension=4) as store:
        check_all_or_nothing(store)
