import sqlite3
from concurrent.futures import wait
from threading import Barrier, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ConflictError, StoreError
from learnloop.memory.sqlite_connection import connect
from learnloop.server.storage.writer import Writer


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "numbers.sqlite"
    connection = connect(path)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    connection.close()
    return path


def numbers_in(path):
    connection = sqlite3.connect(path)
    try:
        return [n for (n,) in connection.execute("SELECT n FROM numbers ORDER BY n")]
    finally:
        connection.close()


def put(n):
    return lambda connection: connection.execute("INSERT INTO numbers VALUES (?)", (n,)).lastrowid


def refuse(connection):
    connection.execute("INSERT INTO numbers VALUES (1000000)")
    raise ConflictError("no")


def test_what_many_threads_write_is_there_once_each(path):
    writer, begin = Writer(connect(path), path), Barrier(16)
    futures = [[] for _ in range(16)]

    def write_many(thread):
        begin.wait()
        futures[thread] = [writer.submit(put(thread * 100 + n)) for n in range(100)]

    threads = [Thread(target=write_many, args=(thread,)) for thread in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = [future.result(30) for each in futures for future in each]
    writer.close()
    assert sorted(results) == list(range(1600))
    assert numbers_in(path) == list(range(1600))


def test_a_result_is_there_only_after_the_commit(path):
    writer = Writer(connect(path), path)
    for n in range(20):
        writer.submit(put(n)).result(30)
        assert numbers_in(path) == list(range(n + 1))
    writer.close()


@settings(max_examples=25, deadline=None)
@given(good=st.lists(st.booleans(), max_size=60))
def test_a_write_that_fails_undoes_itself_alone(tmp_path_factory, good):
    path = tmp_path_factory.mktemp("writer") / "numbers.sqlite"
    connection = connect(path)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    writer = Writer(connection, path)
    futures = [writer.submit(put(n) if fine else refuse) for n, fine in enumerate(good)]
    writer.close()
    assert [future.exception(0) is None for future in futures] == good
    assert numbers_in(path) == [n for n, fine in enumerate(good) if fine]


def test_a_bug_in_a_write_is_told_and_the_thread_goes_on(path, caplog):
    writer = Writer(connect(path), path)
    broken = writer.submit(lambda connection: 1 / 0)
    assert isinstance(broken.exception(30), ZeroDivisionError)
    assert "a write failed" in caplog.text
    assert writer.submit(put(3)).result(30) == 3
    writer.close()


def test_all_that_was_submitted_is_written_before_the_end(path):
    writer = Writer(connect(path), path)
    futures = [writer.submit(put(n)) for n in range(500)]
    writer.close()
    assert wait(futures, timeout=0).not_done == set()
    assert numbers_in(path) == list(range(500))


def test_a_write_cannot_be_cancelled(path):
    writer = Writer(connect(path), path)
    future = writer.submit(put(1))
    assert not future.cancel()
    writer.close()
    assert numbers_in(path) == [1]


def test_nothing_is_taken_after_the_end(path):
    writer = Writer(connect(path), path)
    writer.close()
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.submit(put(1))


def test_a_locked_file_fails_what_waits_and_nothing_after_it(path):
    writer = Writer(connect(path), path)
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked by another process"):
        writer.submit(put(1)).result(30)
    other.execute("ROLLBACK")
    other.close()
    assert writer.submit(put(2)).result(30) == 2
    writer.close()
    assert numbers_in(path) == [2]


def test_a_full_disk_is_told_and_what_fits_is_still_written(path):
    connection = connect(path)
    connection.execute(f"PRAGMA max_page_count = {pages_of(connection) + 1}")
    writer = Writer(connection, path)
    blob = b"x" * 1_000_000
    with pytest.raises(StoreError, match="disk is full"):
        writer.submit(
            lambda connection: connection.execute("CREATE TABLE large AS SELECT ? AS b", (blob,))
        ).result(30)
    assert writer.submit(put(2)).result(30) == 2
    writer.close()


def pages_of(connection):
    return connection.execute("PRAGMA page_count").fetchone()[0]


def test_at_rest_nothing_waits_and_nothing_is_stuck(path):
    writer = Writer(connect(path), path)
    writer.submit(put(1)).result(30)
    writer.close()
    assert (writer.waiting, writer.stuck_for) == (0, 0.0)
