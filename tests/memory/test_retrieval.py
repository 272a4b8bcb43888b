"""Retrieval on a plane: a text is an angle in degrees, so every order can be counted by hand."""

import math

import numpy as np
import pytest

from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import CommonPool, Contrastive, Recent, Right, Similar, Wrong
from learnloop.types import Episode, Query, Source


class AngleEmbedder:
    """Reads the first number in a text as an angle; letters and spaces do not matter."""

    name = "angle"
    dimension = 2

    def embed(self, texts):
        angles = [math.radians(float("".join(c for c in t if c.isdigit()))) for t in texts]
        return np.array([[math.cos(a), math.sin(a)] for a in angles], dtype=np.float32)


def memory_of(*episodes):
    store = InMemoryStore(embedder_name="angle", dimension=2)
    memory = Memory(store=store, embedder=AngleEmbedder())
    for step, (name, text, answer, correct, *group) in enumerate(episodes):
        query = Query(id=f"q-{name}", text=text, group=group[0] if group else "")
        memory.remember(
            Episode(
                id=name,
                query=query,
                answer=answer,
                step=step,
                source=Source(kind="model"),
                correct=correct,
            )
        )
    return memory


def ids(retriever, text="0", *, k, query_id="asked", group=""):
    found = retriever.retrieve(Query(id=query_id, text=text, group=group), k=k)
    return [episode.id for episode in found]


MIXED = memory_of(
    ("r10", "10", "a", True),
    ("w20", "20", "a", False),
    ("r30", "30", "a", True),
    ("u35", "35", "a", None),
    ("w40", "40", "a", False),
    ("r50", "50", "a", True),
    ("r60", "60", "a", True),
)


@pytest.mark.parametrize(
    ("retriever", "k", "expected"),
    [
        (Right(memory=MIXED), 2, ["r30", "r10"]),
        (Right(memory=MIXED), 9, ["r60", "r50", "r30", "r10"]),
        (Right(memory=MIXED), 0, []),
        (Wrong(memory=MIXED), 1, ["w20"]),
        (Wrong(memory=MIXED), 4, ["w40", "w20"]),
        (Similar(memory=MIXED), 4, ["u35", "r30", "w20", "r10"]),
        (Contrastive(memory=MIXED), 4, ["w40", "r30", "w20", "r10"]),
        (Contrastive(memory=MIXED), 3, ["r30", "w20", "r10"]),
        (Contrastive(memory=MIXED), 8, ["r60", "r50", "w40", "r30", "w20", "r10"]),
        (Contrastive(memory=MIXED), 1, ["r10"]),
        (Recent(memory=MIXED), 3, ["w40", "r50", "r60"]),
        (Recent(memory=MIXED, outcome="wrong"), 3, ["w20", "w40"]),
        (Recent(memory=MIXED), 0, []),
        (CommonPool(memory=MIXED, outcome="right"), 2, ["r30", "r10"]),
        (CommonPool(memory=MIXED, outcome="unknown"), 2, ["u35"]),
        (CommonPool(memory=MIXED), 4, ["w40", "r30", "w20", "r10"]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "retrieve") else None,
)
def test_each_retriever_finds_its_own_with_the_most_similar_last(retriever, k, expected):
    assert ids(retriever, k=k) == expected


def test_wrong_cases_far_away_are_found_per_class_but_not_in_a_common_pool():
    near_and_right = [(f"r{n}", str(n), "a", True) for n in range(25)]
    memory = memory_of(("w80", "80", "a", False), *near_and_right)
    assert ids(Contrastive(memory=memory), k=2) == ["w80", "r0"]
    assert ids(CommonPool(memory=memory), k=2) == ["r0"]
    assert ids(CommonPool(memory=memory, pool=26), k=2) == ["w80", "r0"]


@pytest.mark.parametrize("kind", [Right, Contrastive, Recent, CommonPool])
def test_the_episode_of_the_very_same_query_is_never_returned(kind):
    memory = memory_of(("r10", "10", "a", True), ("r20", "20", "a", True))
    assert ids(kind(memory=memory), "20", k=2, query_id="q-r20") == ["r10"]


def test_duplicates_collapse_to_the_newest_and_the_places_are_filled_from_further_down():
    memory = memory_of(
        *[(f"same{n}", "10", "a", True) for n in range(40)],
        ("shouted", " X  10 ", "A", True),
        ("whispered", "x 10", "a", True),
        ("other-answer", "10", "b", True),
        ("r20", "20", "a", True),
        ("r30", "30", "a", True),
    )
    assert ids(Right(memory=memory), k=1) == ["same39"]
    assert ids(Right(memory=memory), k=4) == ["r20", "other-answer", "whispered", "same39"]
    assert ids(Right(memory=memory), k=5)[0] == "r30"
    assert ids(Recent(memory=memory), k=5) == [
        "same39",
        "whispered",
        "other-answer",
        "r20",
        "r30",
    ]


def test_equally_similar_episodes_stay_in_order_of_age_when_duplicates_collapse():
    memory = memory_of(("a1", "10", "a", True), ("b", "10", "b", True), ("a2", "10", "a", True))
    assert ids(Right(memory=memory), k=2) == ["a2", "b"]


def test_the_published_pool_keeps_duplicates():
    memory = memory_of(("a", "10", "x", True), ("b", "10", "x", True))
    assert ids(CommonPool(memory=memory, outcome="right"), k=2) == ["b", "a"]


@pytest.mark.parametrize("kind", [Right, Wrong, Contrastive])
def test_what_is_less_similar_than_asked_for_is_left_out(kind):
    at_45_degrees = math.cos(math.radians(45))
    found = ids(kind(memory=MIXED, min_similarity=at_45_degrees), k=9)
    assert found == [name for name in ids(kind(memory=MIXED), k=9) if int(name[1:]) < 45]


@pytest.mark.parametrize("kind", [Right, Wrong, Contrastive, Recent])
def test_a_query_can_be_kept_to_its_own_group(kind):
    memory = memory_of(
        ("shop-r", "10", "a", True, "shop"),
        ("clinic-r", "20", "a", True, "clinic"),
        ("shop-w", "30", "a", False, "shop"),
        ("clinic-w", "40", "a", False, "clinic"),
    )
    everywhere = ids(kind(memory=memory), k=4, group="clinic")
    own = ids(kind(memory=memory, group=True), k=2, group="clinic")
    assert own == [name for name in everywhere if name.startswith("clinic")]
    assert own != everywhere


def test_a_crowd_of_duplicates_wider_than_any_window_still_leaves_k():
    memory = memory_of(
        *[(f"same{n}", "10", "a", True) for n in range(300)], ("r20", "20", "a", True)
    )
    assert ids(Right(memory=memory), k=2) == ["r20", "same299"]
    recent = memory_of(
        ("r20", "20", "a", True), *[(f"same{n}", "10", "a", True) for n in range(300)]
    )
    assert ids(Recent(memory=recent), k=2) == ["r20", "same299"]
