"""Export and import: everything comes back, once, however often it is taken in."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ConflictError, DataError
from learnloop.memory.exchange import export_episodes, import_episodes
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.sqlite import SQLiteStore
from learnloop.types import Episode, Feedback, Query, Source

AXES = np.eye(4, dtype=np.float32)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
optional = st.none() | texts
feedbacks = st.builds(
    Feedback,
    id=st.just("f"),
    target_id=texts,
    name=texts,
    correct=st.none() | st.booleans(),
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    comment=optional,
    correction=optional,
    observed=optional,
    source=st.builds(Source, kind=texts, id=texts),
    confidence=st.none() | st.floats(0, 1),
    event_time=optional,
    supersedes=st.none() | st.sampled_from(["0:0", "0:1", "1:0"]),
)
episodes = st.builds(
    Episode,
    id=st.just("e"),
    query=st.builds(Query, id=texts, text=texts, context=texts, group=texts, key=texts),
    answer=texts,
    step=st.integers(0, 2**40),
    source=st.builds(Source, kind=texts, id=texts),
    correct=st.none() | st.booleans(),
    rationale=texts,
)


def by_length(asked):
    return AXES[[len(text) % 4 for text in asked]]


def named(item, name):
    return type(item)(**{f: getattr(item, f) for f in item.__slots__} | {"id": name})


def kept(store):
    return list(store.walk())


@settings(deadline=None, max_examples=60)
@given(given_ones=st.lists(st.tuples(episodes, st.lists(feedbacks, max_size=3)), max_size=6))
def test_what_is_written_out_and_taken_in_is_the_same_memory(given_ones):
    first = InMemoryStore(embedder_name="x", dimension=4)
    for place, (episode, said) in enumerate(given_ones):
        key = episode.query.key or episode.query.text
        first.add(named(episode, f"e{place}"), by_length([key])[0])
        for turn, feedback in enumerate(said):
            first.add_feedback(f"e{place}", named(feedback, f"{place}:{turn}"))
    rows = [json.loads(json.dumps(row)) for row in export_episodes(first)]
    second = InMemoryStore(embedder_name="x", dimension=4)
    with SQLiteStore(":memory:", embedder_name="x", dimension=4, scope="s") as third:
        for store in (second, third):
            assert import_episodes(store, rows, by_length) == len(given_ones)
            assert import_episodes(store, rows, by_length) == 0
            assert kept(store) == kept(first)
            assert list(export_episodes(store)) == list(export_episodes(first))
            assert store.nearest(AXES[1], k=9) == first.nearest(AXES[1], k=9)


def episode(name, text="?", answer="a", correct=None, said=()):
    return Episode(
        id=name,
        query=Query(id=name, text=text),
        answer=answer,
        step=0,
        source=Source(kind="model"),
        correct=correct,
        feedback=tuple(Feedback(id=each, target_id=name, correct=True) for each in said),
    )


def store_of(*held):
    store = InMemoryStore(embedder_name="x", dimension=4)
    for each in held:
        store.add(each, AXES[0])
    return store


def test_a_verdict_that_an_episode_brought_lives_on_below_its_feedback():
    first = store_of(episode("a", correct=False))
    first.add_feedback("a", Feedback(id="f", target_id="a", correct=True))
    second = store_of()
    import_episodes(second, export_episodes(first), by_length)
    assert second.get("a").correct is True
    second.add_feedback("a", Feedback(id="g", target_id="a", supersedes="f"))
    assert second.get("a").correct is False


def test_an_import_adds_what_is_missing_to_what_is_there():
    there = store_of(episode("a", said=["f1", "f0"]))
    rows = export_episodes(store_of(episode("a", said=["f1", "f2"]), episode("b", said=["g1"])))
    assert import_episodes(there, rows, by_length) == 1
    assert [said.id for said in there.get("a").feedback] == ["f1", "f0", "f2"]
    assert [said.id for said in there.get("b").feedback] == ["g1"]


def test_other_content_under_a_known_id_is_refused():
    rows = export_episodes(store_of(episode("a", answer="b")))
    with pytest.raises(ConflictError, match="remembered as episode 'a'"):
        import_episodes(store_of(episode("a")), rows, by_length)


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (lambda row: row | {"format": 2}, "format is 2"),
        (lambda row: {"format": 1, "given": None}, "episode is"),
        (
            lambda row: row | {"episode": row["episode"] | {"step": "soon"}},
            "episode.step is 'soon'",
        ),
        (lambda row: ["a"], r"it is \['a'\]"),
    ],
)
def test_a_row_that_is_not_of_the_format_is_told_by_its_number(spoil, place):
    good = list(export_episodes(store_of(episode("a"), episode("b"))))
    store = store_of()
    with pytest.raises(DataError, match=f"row 2 cannot be taken in: {place}"):
        import_episodes(store, [good[0], spoil(good[1])], by_length)
    assert len(store) == 0


def test_a_file_is_walked_page_by_page_while_it_grows(tmp_path):
    with SQLiteStore(tmp_path / "m.db", embedder_name="x", dimension=4) as store:
        store.add_many([episode(f"e{n}") for n in range(1200)], AXES[[0] * 1200])
        store.erase([f"e{n}" for n in range(100, 900)])
        seen = []
        for row in export_episodes(store):
            if not seen:
                store.add(episode("late"), AXES[0])
            seen.append(row["episode"]["id"])
        assert seen == [f"e{n}" for n in [*range(100), *range(900, 1200)]] + ["late"]
