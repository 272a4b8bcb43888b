"""Scopes: many memories in one file, beside tables of others, and nothing of one in another."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import EmbedderMismatchError, ParameterError, StoreError
from learnloop.memory.sqlite import SQLiteStore
from learnloop.memory.sqlite_families import APPLICATION_ID
from learnloop.memory.sqlite_schema import MIGRATIONS
from learnloop.memory.sqlite_scopes import drop_scope
from learnloop.types import Episode, Feedback, Query, Source

AXES = np.eye(4, dtype=np.float32)
AWKWARD = [
    "acme.sql",
    "ACME.sql",
    "acme.sql ",
    "a'; DROP TABLE memory_1_episodes; --",
    '"',
    "%",
    "_",
    "1",
    "memory_1",
    "episodes",
    "{episodes}",
    "\u00e4",
    "a\u0308",
    "x" * 200,
]


def opened(path, scope="", name="by-hand", dimension=4):
    return SQLiteStore(path, embedder_name=name, dimension=dimension, scope=scope)


def episode(name, text="?", correct=True):
    return Episode(
        id=name,
        query=Query(id=name, text=text),
        answer="a",
        step=0,
        source=Source(kind="model"),
        feedback=(Feedback(id=f"{name}/f", target_id=name, correct=correct),),
    )


def tables_of(path):
    file = sqlite3.connect(path)
    names = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    file.close()
    return names


def test_scopes_of_one_file_hold_their_own_under_equal_ids(tmp_path):
    path = tmp_path / "memory.db"
    scopes = ["", *AWKWARD]
    for place, scope in enumerate(scopes):
        with opened(path, scope) as store:
            assert len(store) == 0
            store.add(episode("e1", text=f"of {place}", correct=place % 2 == 0), AXES[0])
    for place, scope in enumerate(scopes):
        with opened(path, scope) as store:
            [found] = store.recent(k=9)
            assert (found.query.text, found.correct) == (f"of {place}", place % 2 == 0)
            assert store.scope == scope
    assert len(tables_of(path)) == 3 + 1 + 1 + 1 + 2 * len(AWKWARD)  # and sqlite_sequence


@pytest.mark.parametrize("scope", ["x" * 201, "a\nb", "\x00", "a\x7f", "\x85", "\ud800"])
def test_what_cannot_be_a_scope_is_refused_before_a_file_is_made(tmp_path, scope):
    with pytest.raises(ParameterError, match="cannot be a scope; give 1 to 200 characters"):
        opened(tmp_path / "memory.db", scope)
    with pytest.raises(ParameterError, match="cannot be a scope"):
        drop_scope(tmp_path / "memory.db", scope)
    assert not list(tmp_path.iterdir())


def test_no_statement_of_a_scope_names_a_table_of_another(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path, "other") as other, opened(path) as bare, opened(path, "mine") as store:
        for each in (other, bare, store):
            each.add(episode("a"), AXES[0])
        named = []

        def note(action, first, second, database, trigger):
            if action in (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE):
                named.append(first)
            return sqlite3.SQLITE_OK

        store._connection.set_authorizer(note)
        store.add(episode("b"), AXES[1])
        store.add_feedback("a", Feedback(id="g", target_id="a", correct=False))
        store.nearest(AXES[1], k=3, outcome="wrong")
        store.recent(k=3)
        store.get("a")
        list(store.walk())
        store.erase(["b"])
        store.recent(k=3)
        store._connection.set_authorizer(None)
        allowed = {"memory_2_episodes", "memory_2_feedback", "memory_scopes"}
        assert allowed < set(named) <= allowed | {"sqlite_master"}
        assert len(other) == len(bare) == 1


operations = st.lists(
    st.tuples(
        st.sampled_from(["", "a.t", "b.t"]),
        st.sampled_from(["add", "say", "erase", "drop"]),
        st.sampled_from(["e1", "e2", "e3"]),
    ),
    max_size=30,
)


@settings(deadline=None, max_examples=40)
@given(operations=operations)
def test_nothing_crosses_from_one_scope_to_another(tmp_path_factory, operations):
    path = tmp_path_factory.mktemp("scopes") / "memory.db"
    stores = {scope: opened(path, scope) for scope in ("", "a.t", "b.t")}
    want = {scope: {} for scope in stores}
    for number, (scope, act, name) in enumerate(operations):
        store, mine = stores[scope], want[scope]
        if act == "add" and name not in mine:
            assert store.add(episode(name, text=f"{scope}/{name}"), AXES[0])
            mine[name] = True
        elif act == "say" and name in mine:
            said = Feedback(id=f"g{number}", target_id=name, correct=number % 2 == 0)
            assert store.add_feedback(name, said)
            mine[name] = number % 2 == 0
        elif act == "erase":
            assert store.erase([name]) == (mine.pop(name, None) is not None)
        elif act == "drop" and scope:
            store.close()
            assert drop_scope(path, scope)
            stores[scope] = opened(path, scope)
            mine.clear()
        for scope_there, there in stores.items():
            found = {each.id: each.correct for each in there.recent(k=99)}
            assert found == want[scope_there]
            for match in there.nearest(AXES[0], k=99):
                assert match.episode.query.text == f"{scope_there}/{match.episode.id}"
    for store in stores.values():
        store.close()


def test_each_scope_has_its_own_embedder_and_dimension(tmp_path):
    path = tmp_path / "memory.db"
    opened(path, "a").close()
    opened(path, "b", name="bge", dimension=8).close()
    with pytest.raises(EmbedderMismatchError, match="'by-hand' with dimension 4, asked .* 'bge'"):
        opened(path, "a", name="bge", dimension=8)
    with pytest.raises(EmbedderMismatchError, match="asked for was 'bge' with 4"):
        opened(path, "b", name="bge")


def test_a_dropped_scope_leaves_nothing_and_its_number_is_not_used_again(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path, "kept") as kept:
        kept.add(episode("k", text="kept-text"), AXES[0])
        with opened(path, "gone") as store:
            store.add(episode("e", text="gone-text " * 2000), AXES[0])
        assert drop_scope(path, "gone") is True
        assert drop_scope(path, "gone") is False
        on_disk = b"".join(each.read_bytes() for each in tmp_path.iterdir())
        assert b"kept-text" in on_disk
        assert b"gone-text" not in on_disk
        with opened(path, "gone") as again:
            assert len(again) == 0
        assert {"memory_1_episodes", "memory_3_episodes"} <= tables_of(path)
        assert "memory_2_episodes" not in tables_of(path)
        assert kept.get("k").query.text == "kept-text"


def test_a_store_whose_scope_was_dropped_says_so(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path, "a") as store:
        store.add(episode("e"), AXES[0])
        drop_scope(path, "a")
        opened(path, "a").close()
        for act in (
            lambda: store.recent(k=1),
            lambda: store.add(episode("f"), AXES[0]),
            lambda: store.add_feedback("e", Feedback(id="g", target_id="e")),
            lambda: store.erase(["e"]),
            lambda: len(store),
        ):
            with pytest.raises(StoreError, match="scope of the store was dropped; open a new"):
                act()


def test_a_scope_cannot_be_dropped_from_what_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="there is no store"):
        drop_scope(tmp_path / "memory.db", "a")
    assert not list(tmp_path.iterdir())
    file = sqlite3.connect(tmp_path / "other.db")
    file.execute("CREATE TABLE memory_scopes (id)")
    file.close()
    with pytest.raises(StoreError, match="another program"):
        drop_scope(tmp_path / "other.db", "a")


@pytest.mark.parametrize("scope", ["", "acme.sql"])
def test_memories_stand_beside_the_tables_of_a_file_that_is_marked_as_ours(tmp_path, scope):
    path = tmp_path / "server.db"
    file = sqlite3.connect(path)
    file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    file.execute("CREATE TABLE tenants (name)")
    file.execute("INSERT INTO tenants VALUES ('acme')")
    file.execute("CREATE TABLE schema_families (family TEXT PRIMARY KEY, version INTEGER NOT NULL)")
    file.execute("INSERT INTO schema_families VALUES ('server', 7)")
    file.commit()
    with opened(path, scope) as store:
        store.add(episode("e"), AXES[0])
    with opened(path, scope) as store:
        assert len(store) == 1
    assert file.execute("SELECT name FROM tenants").fetchall() == [("acme",)]
    families = dict(file.execute("SELECT family, version FROM schema_families"))
    assert families == {"server": 7} | ({"memory_scopes": 1} if scope else {})
    file.close()


@pytest.mark.parametrize("scope", ["", "acme.sql"])
@pytest.mark.parametrize("spoil", ["PRAGMA application_id = 1", "PRAGMA user_version = 1"])
def test_the_database_of_another_program_is_left_alone_whatever_its_marks(tmp_path, scope, spoil):
    path = tmp_path / "other.db"
    file = sqlite3.connect(path)
    file.execute(spoil)
    file.execute("CREATE TABLE store (name, value)")
    file.close()
    with pytest.raises(StoreError, match="another program"):
        opened(path, scope)
    assert tables_of(path) == {"store"}


def older_file(path, version):
    """A file as it was made before there were scopes, with one episode."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("CREATE TABLE store (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
    file.execute("INSERT INTO store VALUES ('embedder_name', 'by-hand'), ('dimension', '4')")
    for statements in MIGRATIONS[:version]:
        for statement in statements:
            file.execute(statement.format(episodes="episodes", feedback="feedback"))
    file.execute(
        "INSERT INTO episodes (position, id, content_hash, query_id, query_text, query_context, "
        "query_group, answer, step, source_kind, source_id, given_correct, vector) "
        "VALUES (0, 'old', 'h', 'old', 'old text', '', '', 'a', 0, 'model', '', 1, ?)",
        (AXES[0].tobytes(),),
    )
    file.execute(
        "INSERT INTO feedback (id, episode_id, target_id, name, correct, source_kind, source_id) "
        "VALUES ('f', 'old', 'old', 'correct', 0, 'user', '')"
    )
    file.execute(f"PRAGMA user_version = {version}")
    file.close()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("order", [("", "new"), ("new", "")])
def test_an_older_file_opens_with_and_without_scopes(tmp_path, version, order):
    path = tmp_path / "memory.db"
    older_file(path, version)
    for scope in order:
        with opened(path, scope) as store:
            assert len(store) == (0 if scope else 1)
            store.add(episode("e"), AXES[1])
    with opened(path) as store:
        assert [each.id for each in store.recent(k=9, outcome="wrong")] == ["old"]
        assert store.erase(["old"]) == 1
    with opened(path, "new") as store:
        assert [each.id for each in store.recent(k=9)] == ["e"]


def test_a_scope_of_a_newer_version_is_refused_alone(tmp_path):
    path = tmp_path / "memory.db"
    opened(path, "a").close()
    opened(path, "b").close()
    file = sqlite3.connect(path)
    file.execute("UPDATE memory_scopes SET version = 99 WHERE scope = 'a'")
    file.commit()
    file.close()
    with pytest.raises(StoreError, match="version 99.*update learnloop"):
        opened(path, "a")
    opened(path, "b").close()


EACH_ADDS, WORKERS = 25, 4


def add_and_look(store, worker):
    """Add, judge, erase one of five, and see all that is left of it each time."""
    mine = []
    for number in range(EACH_ADDS):
        name = f"{worker}-{number}"
        store.add(episode(name, text=store.scope, correct=None), AXES[number % 4])
        store.add_feedback(name, Feedback(id=f"g{name}", target_id=name, correct=True))
        mine.append(name)
        if number % 5 == 4:
            store.erase([mine.pop(0)])
        seen = {match.episode.id for match in store.nearest(AXES[number % 4], k=999)}
        assert set(mine) <= seen
        assert {each.query.text for each in store.recent(k=9)} == {store.scope}


def test_threads_over_two_scopes_lose_nothing_and_mix_nothing(tmp_path):
    path = tmp_path / "memory.db"
    with (
        opened(path, "a.t") as one,
        opened(path, "b.t") as two,
        opened(path, "a.t") as three,
        ThreadPoolExecutor(3 * WORKERS) as pool,
    ):
        futures = [
            pool.submit(add_and_look, store, f"{place}{worker}")
            for place, store in enumerate((one, two, three))
            for worker in range(WORKERS)
        ]
        for future in futures:
            future.result()
        left = {
            f"{place}{worker}-{number}"
            for place in range(3)
            for worker in range(WORKERS)
            for number in range(EACH_ADDS // 5, EACH_ADDS)
        }
        of_two = {name for name in left if name.startswith("1")}
        assert {each.id for each in two.recent(k=999, outcome="right")} == of_two
        for store in (one, three):
            assert {each.id for each in store.recent(k=999, outcome="right")} == left - of_two
    file = sqlite3.connect(path)
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    file.close()


def test_stores_that_share_a_lock_write_one_after_the_other(tmp_path):
    lock = threading.Lock()
    options = {"embedder_name": "by-hand", "dimension": 4, "write_lock": lock}
    path = tmp_path / "memory.db"
    with (
        SQLiteStore(path, scope="a", **options) as one,
        SQLiteStore(path, scope="b", **options) as two,
        ThreadPoolExecutor(2) as pool,
    ):
        with lock:
            waiting = [pool.submit(each.add, episode("e"), AXES[0]) for each in (one, two)]
            assert one.recent(k=9) == two.recent(k=9) == []  # reading waits for no writer
            assert not any(each.done() for each in waiting)
        assert all(each.result() for each in waiting)
        assert len(one) == len(two) == 1
