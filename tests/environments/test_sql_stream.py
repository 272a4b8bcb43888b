"""Schemas as text, and what a grade of SQL tells the user and the experimenter."""

import sqlite3
from contextlib import closing

import pytest

from learnloop.environments.dataset import Item
from learnloop.environments.sql_stream import (
    EMPTY_GOLD,
    ExecutionGrader,
    chosen_databases,
    database_file,
    schema_text,
)
from learnloop.errors import DataError, ParameterError
from learnloop.types import Query

SCRIPT = """
CREATE TABLE "author" ("id" INTEGER PRIMARY KEY, "name" VARCHAR(80) NOT NULL DEFAULT 'x');
CREATE TABLE "book of the year" (
  "year" INT, "order" INT, "author id" INT REFERENCES author(id), PRIMARY KEY ("year", "order")
);
INSERT INTO author VALUES (1, 'Ana'), (2, 'Ben'), (3, 'Ana');
"""


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "books.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    return path


@pytest.fixture
def grade(database):
    grader = ExecutionGrader(lambda name: database, seconds=2.0)

    def graded(gold, answer):
        query = Query(id="q", text="?", group="books")
        return grader(Item(query=query, gold=gold), answer)

    return graded


def test_a_schema_is_one_short_line_a_table_with_keys_and_quotes_where_needed(database):
    assert schema_text(database).splitlines() == [
        "CREATE TABLE author (id integer PRIMARY KEY, name varchar);",
        'CREATE TABLE "book of the year" (year int, "order" int, "author id" int, '
        'PRIMARY KEY (year, "order"), FOREIGN KEY ("author id") REFERENCES author (id));',
    ]


def test_the_text_of_a_schema_is_sql_that_makes_the_same_columns(database):
    with closing(sqlite3.connect(":memory:")) as copy, closing(sqlite3.connect(database)) as real:
        copy.executescript(schema_text(database))
        for table in ("author", "book of the year"):
            columns = "SELECT name, pk FROM pragma_table_info(?)"
            assert (
                copy.execute(columns, (table,)).fetchall()
                == real.execute(columns, (table,)).fetchall()
            )


@pytest.mark.parametrize("name", ["cast", "current_date", "returning", "if", "index", "größe"])
def test_a_table_and_a_column_can_have_any_name(tmp_path, name):
    path = tmp_path / "odd.sqlite"
    with closing(sqlite3.connect(path)) as real, closing(sqlite3.connect(":memory:")) as copy:
        real.execute(f'CREATE TABLE "{name}" ("{name}" INTEGER)')
        copy.executescript(schema_text(path))
        assert copy.execute("SELECT name FROM sqlite_master").fetchall() == [(name,)]


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "text.sqlite"
    path.write_text("no database at all " * 100)
    with pytest.raises(DataError, match=r"cannot read the schema of .*text\.sqlite"):
        schema_text(path)


def test_rows_count_as_often_as_they_come(grade):
    assert grade("SELECT name FROM author", "SELECT name FROM author").correct
    assert not grade("SELECT name FROM author", "SELECT DISTINCT name FROM author").correct


def test_order_counts_where_the_gold_orders_and_only_there(grade):
    backwards = "SELECT id FROM author ORDER BY id DESC"
    assert grade("SELECT id FROM author", backwards).correct
    assert not grade("SELECT id FROM author ORDER BY id", backwards).correct


def test_rows_that_tie_under_the_sort_keys_may_come_in_any_order(grade):
    gold = "SELECT id FROM author ORDER BY name"  # 1 and 3 are both called Ana
    assert grade(gold, "SELECT id FROM author ORDER BY name, id DESC").correct
    assert not grade(gold, "SELECT id FROM author ORDER BY name DESC").correct


def test_gold_without_rows_is_tagged_and_equal_emptiness_is_right(grade):
    found = grade("SELECT id FROM author WHERE id > 9", "SELECT name FROM author WHERE id > 9")
    assert (found.correct, found.tags) == (True, (EMPTY_GOLD,))


@pytest.mark.parametrize(
    ("answer", "comment"),
    [
        ("SELECT id FROM author", ""),
        ("SELECT nam FROM author", "The query fails: no such column: nam."),
        ("SELECT id, name FROM author", "The number of columns is not the one asked for: 2"),
        ("SELECT 1", "The rows are not the ones asked for."),
        ("DROP TABLE author", "The database refuses the query"),
        ("I do not know", "The query fails"),
    ],
)
def test_the_comment_says_what_a_user_sees_and_not_what_is_right(grade, answer, comment):
    found = grade("SELECT id FROM author", answer).comment
    assert found.startswith(comment)
    assert "FROM author" not in found


def test_databases_are_chosen_by_name_and_an_unknown_one_is_refused():
    assert chosen_databases("", ["a", "b"]) == {"a", "b"}
    with pytest.raises(ParameterError, match="no database 'c'; there are a, b"):
        chosen_databases("a,c", ["a", "b"])


def test_a_database_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="no database 'pets'"):
        database_file(tmp_path, "pets")
