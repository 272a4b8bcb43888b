"""Erasing: nothing of a person stays in the file, and every index over it notices."""

import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.memory import Memory
from learnloop.memory.sqlite import SQLiteStore
from learnloop.types import Episode, Feedback, Query, Source

AXES = np.eye(4, dtype=np.float32)


def opened(path, scope=""):
    return SQLiteStore(path, embedder_name="by-hand", dimension=4, scope=scope)


def episode(name, text="?", answer="a", correct=True):
    return Episode(
        id=name,
        query=Query(id=name, text=text),
        answer=answer,
        step=0,
        source=Source(kind="model"),
        feedback=(Feedback(id=f"{name}/f", target_id=name, correct=correct, comment=text),),
    )


def bytes_on_disk(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize("scope", ["", "acme.sql"])
def test_what_was_erased_is_nowhere_on_the_disk(tmp_path, scope):
    secret = "the-patient-is-Ada-Lovelace " * 300  # on overflow pages, too
    with opened(tmp_path / "memory.db", scope) as store:
        for number in range(200):
            store.add(episode(f"e{number}", text=f"nothing {number}"), AXES[0])
            if number % 50 == 0:
                store.add(episode(f"ada-{number}", text=secret, answer="grippe-ada"), AXES[1])
        assert b"Ada-Lovelace" in bytes_on_disk(tmp_path)
        assert store.erase([f"ada-{number}" for number in (0, 50, 100, 150)]) == 4
        left = bytes_on_disk(tmp_path)
        assert b"nothing 199" in left
        for trace in (b"Ada-Lovelace", b"grippe-ada", b"ada-50"):
            assert trace not in left
        assert store.nearest(AXES[1], k=1)[0].similarity == 0.0
    file = sqlite3.connect(tmp_path / "memory.db")
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    file.close()


@pytest.mark.parametrize("scope", ["", "acme.sql"])
@pytest.mark.parametrize("ids", [["e1"], ["unknown"], []])
def test_memory_is_append_only_again_after_erasing(tmp_path, scope, ids):
    with opened(tmp_path / "memory.db", scope) as store:
        store.add(episode("e1"), AXES[0])
        store.add(episode("e2"), AXES[0])
        file = sqlite3.connect(tmp_path / "memory.db")
        triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        before = file.execute(triggers).fetchall()
        store.erase(ids)
        assert file.execute(triggers).fetchall() == before
        assert len(before) == 4
        names = ("memory_1_episodes", "memory_1_feedback") if scope else ("episodes", "feedback")
        for name in names:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                file.execute(f"DELETE FROM {name}")
        file.close()


def test_an_erasure_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path) as store:
        store.add(episode("e1"), AXES[0])
        store.add(episode("e2"), AXES[0])
        file = sqlite3.connect(path)
        file.execute(
            "CREATE TRIGGER store_stays BEFORE INSERT ON store "
            "BEGIN SELECT raise(ABORT, 'not now'); END"
        )
        before = file.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
        with pytest.raises(Exception, match="not now"):
            store.erase(["e1"])
        assert file.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before
        assert [found.id for found in store.recent(k=9)] == ["e1", "e2"]
        file.close()


@pytest.mark.parametrize("scope", ["", "acme.sql"])
def test_another_store_over_the_file_notices_an_erasure(tmp_path, scope):
    path = tmp_path / "memory.db"
    with opened(path, scope) as one, opened(path, scope) as two:
        for number in range(4):
            one.add(episode(f"e{number}"), AXES[number])
        assert two.nearest(AXES[3], k=1)[0].episode.id == "e3"
        one.erase(["e1", "e3"])
        one.add(episode("e4"), AXES[1])  # takes the place in the file that e3 had
        assert len(two) == 3
        assert [match.episode.id for match in two.nearest(AXES[1], k=1)] == ["e4"]
        two.add_feedback("e4", Feedback(id="g", target_id="e4", correct=False))
        assert [found.id for found in one.recent(k=9, outcome="wrong")] == ["e4"]
        two.erase(["e0"])
        two.erase(["e2"])
        assert [found.id for found in one.recent(k=9)] == ["e4"]


def test_a_memory_hands_erasing_on_to_its_store():
    class East:
        name = "east"
        dimension = 4

        def embed(self, texts):
            return AXES[[0] * len(texts)]

    memory = Memory(
        store=InMemoryStore(embedder_name="east", dimension=4),
        embedder=East(),
    )
    for name in ("a", "a:correction", "b"):
        memory.remember(episode(name))
    assert memory.erase(["a"]) == 2
    assert [found.id for found in memory.recent(k=9)] == ["b"]


names = st.sampled_from(["a", "b", "c", "a:correction", "b:correction:f1", "a%", "a_"])
acts = st.lists(
    st.one_of(
        st.tuples(st.just("add"), names, st.integers(0, 3), st.sampled_from([True, False])),
        st.tuples(st.just("say"), names, st.sampled_from([True, False])),
        st.tuples(st.just("erase"), st.sets(names, max_size=3)),
    ),
    max_size=25,
)


class PlainList:
    """What a store should hold, as a list of id, axis and verdict."""

    def __init__(self):
        self.rows = []

    def find(self, name):
        return next((row for row in self.rows if row[0] == name), None)

    def erase(self, wanted):
        gone = [row for row in self.rows if wanted & {row[0], row[0].partition(":")[0]}]
        self.rows = [row for row in self.rows if row not in gone]
        return len(gone)


def act_on(stores, plain, number, act):
    match act:
        case "add", name, axis, correct if plain.find(name) is None:
            plain.rows.append([name, axis, correct])
            for store in stores:
                assert store.add(episode(name, correct=correct), AXES[axis])
        case "say", name, correct if row := plain.find(name):
            row[2] = correct
            said = Feedback(id=f"g{number}", target_id=name, correct=correct)
            for store in stores:
                assert store.add_feedback(name, said)
        case "erase", wanted:
            gone = plain.erase(wanted)
            assert [store.erase(wanted) for store in stores] == [gone] * len(stores)


def holds(store, plain):
    rows = plain.rows
    assert [(each.id, each.correct) for each in store.recent(k=99)] == [(r[0], r[2]) for r in rows]
    for axis in range(4):
        found = store.nearest(AXES[axis], k=99, outcome="right")
        hits = [match.episode.id for match in found if match.similarity == 1.0]
        assert hits == [row[0] for row in rows if row[1] == axis and row[2]]


@settings(deadline=None, max_examples=60)
@given(acts=acts)
def test_whatever_is_added_and_erased_a_store_holds_what_a_list_would(acts):
    plain, in_memory = PlainList(), InMemoryStore(embedder_name="x", dimension=4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with opened(path, "s") as one, opened(path, "s") as two, opened(path) as bare:
            for number, act in enumerate(acts):
                turn = (one, two)[number % 2]
                act_on((turn, in_memory, bare), plain, number, act)
                for store in (one, two, in_memory, bare):
                    holds(store, plain)
        with opened(path, "s") as again:
            holds(again, plain)
