import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

from learnloop.errors import EmbedderMismatchError, StoreError, StoreLockedError
from learnloop.memory.sqlite import SQLiteStore
from learnloop.memory.sqlite_connection import connect, transaction
from learnloop.memory.sqlite_schema import MIGRATIONS, migrate
from learnloop.types import Episode, Feedback, Query, Source

EAST = np.array([1, 0], dtype=np.float32)


def opened(path, name="by-hand", dimension=2):
    return SQLiteStore(path, embedder_name=name, dimension=dimension)


def episode(number, text="?", correct=None):
    return Episode(
        id=f"e{number}",
        query=Query(id=f"q{number}", text=text),
        answer="a",
        step=number,
        source=Source(kind="model"),
        feedback=(Feedback(id=f"f{number}", target_id=f"q{number}", correct=correct),),
    )


WRITER = """
import sys
import numpy as np
from learnloop.memory.sqlite import SQLiteStore
from learnloop.types import Episode, Feedback, Query, Source
store = SQLiteStore(sys.argv[1], embedder_name="by-hand", dimension=2)
for number in range(100_000):
    feedback = Feedback(id=f"f{number}", target_id="q", correct=number % 2 == 0)
    query = Query(id=f"q{number}", text="?" * 3000)
    store.add(
        Episode(id=f"e{number}", query=query, answer="a", step=number, source=Source(),
                feedback=(feedback,)),
        np.array([1, 0], dtype=np.float32),
    )
    store.add_feedback(f"e{number}", Feedback(id=f"g{number}", target_id="q", correct=True))
    print(number, flush=True)
"""


@pytest.mark.parametrize("steps", [1, 40, 300])
def test_a_killed_process_leaves_all_that_it_committed(tmp_path, steps):
    path = tmp_path / "memory.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(steps):
            last = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        last = max([last, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    with opened(path) as store:
        assert last + 1 <= len(store) <= last + 2
        for number in range(last + 1):
            kept = store.get(f"e{number}")
            assert [item.id for item in kept.feedback] == [f"f{number}", f"g{number}"]
            assert kept.correct is True
        assert len(store.nearest(EAST, k=10**6)) == len(store)
        assert store.add(episode(10**6), EAST)
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


def test_a_file_of_another_embedder_is_refused(tmp_path):
    opened(tmp_path / "memory.db").close()
    with pytest.raises(EmbedderMismatchError, match="'by-hand' with dimension 2.*'bge' with 2"):
        opened(tmp_path / "memory.db", name="bge")
    with pytest.raises(EmbedderMismatchError, match="asked for was 'by-hand' with 3"):
        opened(tmp_path / "memory.db", dimension=3)


def test_a_database_locked_by_another_process_is_told_as_such(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path) as store:
        store.add(episode(1), EAST)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError, match="locked by another process; end that"):
            store.add(episode(2), EAST)
        assert [found.id for found in store.recent(k=9)] == ["e1"]
        other.execute("ROLLBACK")
        other.close()
        assert store.add(episode(2), EAST)


def test_a_database_held_by_another_process_cannot_be_opened(tmp_path):
    path = tmp_path / "memory.db"
    opened(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreLockedError, match="locked by another process"):
        opened(path)
    other.close()
    opened(path).close()


def test_what_another_process_writes_is_seen(tmp_path):
    with opened(tmp_path / "memory.db") as one, opened(tmp_path / "memory.db") as two:
        one.add(episode(1, correct=True), EAST)
        two.add(episode(2), EAST)
        assert [match.episode.id for match in one.nearest(EAST, k=9)] == ["e1", "e2"]
        assert two.add(episode(1, correct=True), EAST) is False
        two.add_feedback("e1", Feedback(id="g1", target_id="q1", correct=False))
        assert [match.episode.id for match in one.nearest(EAST, k=9, outcome="wrong")] == ["e1"]


def test_threads_share_one_store(tmp_path):
    with opened(tmp_path / "memory.db") as store:

        def work(first):
            for number in range(first, first + 25):
                store.add(episode(number), EAST)
                store.nearest(EAST, k=3)

        threads = [threading.Thread(target=work, args=(first,)) for first in (0, 25, 50, 75)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store) == 100
        assert {found.id for found in store.recent(k=200)} == {f"e{n}" for n in range(100)}


def test_a_full_disk_is_told_and_nothing_kept_is_lost(tmp_path):
    path = tmp_path / "memory.db"
    connection = connect(path)
    with transaction(connection, path, "IMMEDIATE"):
        migrate(connection)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    insert = "INSERT INTO store VALUES ('x', hex(zeroblob(100000)))"
    with pytest.raises(StoreError, match="the disk is full.*free some space"):  # noqa: SIM117
        with transaction(connection, path, "IMMEDIATE"):
            connection.execute(insert)
    assert not connection.in_transaction
    assert connection.execute("SELECT count(*) FROM store").fetchone() == (0,)
    connection.close()


def test_a_file_that_may_not_grow_refuses_one_episode_and_goes_on_later(tmp_path):
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(tmp_path / "memory.db") as store:
        store.add(episode(1), EAST)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            with pytest.raises(StoreError, match="the disk failed or is full"):
                store.add(episode(2, text="?" * 1_000_000), EAST)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert [match.episode.id for match in store.nearest(EAST, k=9)] == ["e1"]
        assert store.add(episode(3), EAST)
        assert [found.id for found in store.recent(k=9)] == ["e1", "e3"]


def test_a_file_of_a_newer_version_is_refused(tmp_path):
    opened(tmp_path / "memory.db").close()
    file = sqlite3.connect(tmp_path / "memory.db")
    file.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    file.close()
    with pytest.raises(StoreError, match="update learnloop"):
        opened(tmp_path / "memory.db")


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE orders (id)")
    file.close()
    with pytest.raises(StoreError, match="another program"):
        opened(path)
    file = sqlite3.connect(path)
    assert file.execute("SELECT name FROM sqlite_master").fetchall() == [("orders",)]
    file.close()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 100)
    with pytest.raises(StoreError, match=r"notes.txt' is not a database"):
        opened(path)
    assert path.read_text() == "not a database\n" * 100


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="give another path"):
        opened(tmp_path / "file" / "memory.db")


def test_migrations_run_once_and_count_up(tmp_path):
    opened(tmp_path / "memory.db").close()
    opened(tmp_path / "memory.db").close()
    file = sqlite3.connect(tmp_path / "memory.db")
    assert file.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    file.close()


def test_rows_are_never_changed_or_removed(tmp_path):
    with opened(tmp_path / "memory.db") as store:
        store.add(episode(1, correct=True), EAST)
        file = sqlite3.connect(tmp_path / "memory.db")
        before = file.execute("SELECT * FROM episodes").fetchall()
        store.add_feedback("e1", Feedback(id="g1", target_id="q1", correct=False, supersedes="f1"))
        assert file.execute("SELECT * FROM episodes").fetchall() == before
        kept = file.execute("SELECT id, correct FROM feedback ORDER BY position").fetchall()
        assert kept == [("f1", 1), ("g1", 0)]
        file.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE episodes SET answer = 'b'",
        "DELETE FROM episodes",
        "UPDATE feedback SET correct = 0",
        "DELETE FROM feedback",
    ],
)
def test_the_file_itself_is_append_only(tmp_path, statement):
    with opened(tmp_path / "memory.db") as store:
        store.add(episode(1, correct=True), EAST)
    file = sqlite3.connect(tmp_path / "memory.db")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        file.execute(statement)
    file.close()
