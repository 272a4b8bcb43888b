import hashlib
import resource
import sqlite3
from contextlib import closing

import pytest

from learnloop.environments.graders.sql import SQLGrader
from learnloop.errors import DataError

COUNT = "SELECT COUNT(*) FROM things"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
TEN = ", ".join(f"things t{i}" for i in range(10))
BIG = "printf('%048000d', 7)"

WRITES = {
    "insert": "INSERT INTO things VALUES (1, 'x', 2)",
    "update": "UPDATE things SET size = 0",
    "delete": "DELETE FROM things RETURNING id",
    "drop": "DROP TABLE things",
    "create": "CREATE TABLE more (id)",
    "temporary": "CREATE TEMP TABLE more AS SELECT 1",
    "attach": "ATTACH 'other.db' AS other",
    "vacuum": "VACUUM INTO 'other.db'",
    "pragma": "PRAGMA writable_schema = 1",
    "pragma as a table": "SELECT * FROM pragma_table_info('things')",
    "load_extension": "SELECT load_extension('evil')",
    "transaction": "BEGIN EXCLUSIVE",
    "random bytes": "SELECT hex(randomblob(100000000))",
    "zero bytes": "SELECT zeroblob(100000000)",
    "json": "SELECT json_group_array(a.name) FROM things a, things b, things c",
}
ENDLESS_WORK = {
    "endless recursion": f"{ENDLESS} SELECT COUNT(*) FROM n",
    "ten-way cross join": f"SELECT COUNT(*) FROM {TEN}",
    "sorted cross join": f"SELECT 1 FROM {TEN} ORDER BY t3.size + t4.size",
    "endless sorting of long texts": f"{ENDLESS} SELECT i || {BIG} AS t FROM n ORDER BY t",
    "endless gathering": f"{ENDLESS} SELECT group_concat('') FROM n",
    "fan out": f"WITH RECURSIVE n(t) AS (SELECT '' UNION ALL SELECT {BIG} FROM n, things) "
    "SELECT COUNT(*) FROM n",
}
TOO_MUCH = {
    "endless rows": f"{ENDLESS} SELECT i FROM n",
    "100 MB of long rows": f"{ENDLESS} SELECT {BIG} FROM n",
    "doubling text": "WITH RECURSIVE n(i, t) AS (SELECT 1, 'xxxxxxxx' UNION ALL "
    "SELECT i + 1, t || t FROM n WHERE i < 24) SELECT MAX(length(t)) FROM n",
    "100 MB gathered": f"SELECT group_concat(a.name || {BIG}) FROM things a, things b",
    "replaced": f"SELECT replace({BIG}, '0', 'xxxxxxxxxxxxxxxx')",
}
NO_SQL = {
    "prose": "I am sorry, I cannot do that.",
    "two statements": f"{COUNT}; DROP TABLE things",
    "NUL": "SELECT '\x00'",
    "no UTF-8": "SELECT '\ud800'",
    "deep": "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "long": f"SELECT '{'x' * 10**7}'",
    "many columns": f"SELECT {', '.join('1' for _ in range(500))}",
    "many parts": " UNION ALL ".join(["SELECT 1"] * 200),
    "parameter": "SELECT ?",
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "things.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)")
        rows = [(i, "ab"[i % 2], i % 7) for i in range(1, 101)]
        connection.executemany("INSERT INTO things VALUES (?, ?, ?)", rows)
        connection.commit()
    return file


def grade(path, sql, gold=COUNT, **params):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found = SQLGrader(path, seconds=0.5).grade(sql, gold=gold, **params)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    return found


@pytest.mark.parametrize("sql", WRITES.values(), ids=WRITES)
def test_what_is_not_reading_is_refused(path, sql):
    assert grade(path, sql).why == "refused"


@pytest.mark.parametrize("sql", ENDLESS_WORK.values(), ids=ENDLESS_WORK)
def test_endless_work_is_stopped(path, sql):
    assert grade(path, sql).why == "too slow"


@pytest.mark.parametrize("sql", TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_is_stopped(path, sql):
    assert grade(path, sql).why == "too large"


@pytest.mark.parametrize("sql", NO_SQL.values(), ids=NO_SQL)
def test_what_is_no_sql_is_invalid(path, sql):
    assert grade(path, sql).why == "invalid"


@pytest.mark.parametrize("sql", ["", " ; ", "-- SELECT 1", "/* nothing */"])
def test_nothing_is_no_statement(path, sql):
    assert grade(path, sql).why == "no statement"


def test_text_that_is_no_utf_8_is_read_all_the_same(path):
    assert grade(path, "SELECT CAST(x'fffe' AS TEXT)").why == "other rows"


def test_hostile_sql_leaves_memory_as_it_was(path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for sql in (*ENDLESS_WORK.values(), *TOO_MUCH.values(), WRITES["json"]):
        assert not grade(path, sql).correct
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 48 * 1024  # KiB on Linux; each of these asks for 100 MB or more


def test_a_clock_that_runs_away_stops_a_statement(path):
    ticks = iter(range(0, 10**9, 100))
    grader = SQLGrader(path, seconds=150, clock=lambda: next(ticks))
    found = grader.grade(f"{ENDLESS} SELECT COUNT(*) FROM n LIMIT 1", gold="SELECT 1")
    assert found.why == "too slow"


def test_the_number_of_instructions_stops_a_statement_whatever_the_clock_says(path):
    grader = SQLGrader(path, max_instructions=10_000, clock=lambda: 0.0)
    assert grader.grade(f"{ENDLESS} SELECT COUNT(*) FROM n", gold=COUNT).why == "too slow"


def test_row_and_byte_caps_hold(path):
    assert SQLGrader(path, max_rows=100).grade("SELECT * FROM things", gold=COUNT).why == (
        "other columns"
    )
    assert SQLGrader(path, max_rows=99).grade("SELECT * FROM things", gold=COUNT).why == "too large"
    assert SQLGrader(path, max_bytes=99).grade("SELECT name FROM things", gold=COUNT).why == (
        "too large"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "select count(1) as n from things where 1",
        "WITH t AS (SELECT * FROM things) SELECT COUNT(*) FROM t",
        "SELECT 100.0",
        "SELECT COUNT(*) FROM things; -- all of them",
        "SELECT (SELECT COUNT(*) FROM things)",
        "VALUES (100)",
    ],
)
def test_any_wording_that_returns_the_same_is_right(path, sql):
    found = grade(path, sql)
    assert (found.correct, found.why) == (True, "same rows")


def test_order_is_compared_only_where_it_is_asked_for(path):
    gold = "SELECT id FROM things ORDER BY id"
    backwards = "SELECT id FROM things ORDER BY id DESC"
    assert grade(path, backwards, gold=gold).correct
    assert grade(path, backwards, gold=gold, ordered=True).why == "other order"
    assert grade(path, gold, gold=gold, ordered=True).correct


def test_rows_that_tie_may_come_in_any_order_and_no_others(path):
    gold = "SELECT id FROM things WHERE id < 5 ORDER BY name"  # a: 2 and 4, b: 1 and 3
    same = "SELECT id FROM things WHERE id < 5 ORDER BY name, id DESC"
    other = "SELECT id FROM things WHERE id < 5 ORDER BY name DESC"
    grader = SQLGrader(path)
    assert grader.grade(same, gold=gold, ordered=True).why == "other order"
    assert grader.grade(same, gold=gold, ordered=True, ties=[2, 2]).correct
    assert grader.grade(other, gold=gold, ordered=True, ties=[2, 2]).why == "other order"
    assert not grader.grade(same, gold=gold, ordered=True, ties=[2, 1]).correct


def test_gold_sql_may_take_ten_times_as_long(path):
    counting = "SELECT COUNT(*) FROM things a, things b"
    grader = SQLGrader(path, max_instructions=5_000)  # it takes some 20,000
    assert grader.rows(counting) == ((10_000,),)
    assert grader.grade(f"{counting} ", gold=counting).why == "too slow"


def test_an_answer_that_is_the_gold_sql_is_not_run_again(path):
    counting = "SELECT COUNT(*) FROM things a, things b"
    grader = SQLGrader(path, max_instructions=5_000)
    assert grader.grade(counting, gold=counting).correct


def test_text_that_is_no_utf_8_is_an_error_where_asked(path):
    sql = "SELECT CAST(x'fffe' AS TEXT)"
    assert SQLGrader(path).run(sql, strict_text=True).why == "invalid"
    assert SQLGrader(path).run(sql).rows == (("\ufffd\ufffd",),)


def test_a_long_text_can_be_read_where_much_may_be(tmp_path):
    with closing(sqlite3.connect(tmp_path / "long.sqlite")) as connection:
        connection.execute("CREATE TABLE post (body TEXT)")
        connection.execute("INSERT INTO post VALUES (?)", ("x" * 60_000,))
        connection.commit()
    sql = "SELECT length(body) FROM post"
    strict = SQLGrader(tmp_path / "long.sqlite")
    wide = SQLGrader(tmp_path / "long.sqlite", max_bytes=5_000_000)
    assert strict.run(sql).why == "too large"
    assert wide.rows(sql) == ((60_000,),)
    assert wide.rows("SELECT length(printf('%090000d', 7))") == ((90_000,),)
    assert wide.run("SELECT length(printf('%0100001d', 7))").why == "too large"


def test_a_database_with_a_wide_table_can_be_read(tmp_path):
    columns = ", ".join(f"c{number} INTEGER" for number in range(250))
    with closing(sqlite3.connect(tmp_path / "wide.sqlite")) as connection:
        connection.executescript(f"CREATE TABLE wide ({columns}); CREATE TABLE small (id);")
    assert SQLGrader(tmp_path / "wide.sqlite").rows("SELECT c249 FROM wide, small") == ()


def test_another_number_of_columns_is_named(path):
    found = grade(path, "SELECT id, name FROM things", gold="SELECT id FROM things")
    assert (found.why, found.detail) == ("other columns", "2 in place of 1")


def test_a_broken_gold_is_an_error_and_not_a_grade(path):
    with pytest.raises(DataError, match="no such table"):
        grade(path, COUNT, gold="SELECT * FROM absent")


@pytest.mark.parametrize("times", [10**5, 10**9])
def test_a_function_that_cannot_be_interrupted_is_stopped_before_it_begins(path, times):
    assert grade(path, f"SELECT printf('%.*c', {times}, 'x')").why == "too large"
