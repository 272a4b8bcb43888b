"""Which SQL orders its rows, and which of the rows tie; groups counted by hand."""

import sqlite3
from contextlib import closing

import pytest

from learnloop.environments.graders.sql import SQLGrader
from learnloop.environments.graders.sql_order import is_ordered, tie_sizes

SCRIPT = """
CREATE TABLE pet (name TEXT, kind TEXT, age INTEGER);
INSERT INTO pet VALUES
  ('Rex', 'dog', 3), ('Tom', 'cat', 5), ('Ada', 'dog', 3), ('Kit', 'cat', 7), ('Bo', 'Dog', 3);
"""


@pytest.fixture
def grader(tmp_path):
    with closing(sqlite3.connect(tmp_path / "pets.sqlite")) as connection:
        connection.executescript(SCRIPT)
    return SQLGrader(tmp_path / "pets.sqlite")


def ties(grader, sql):
    return tie_sizes(sql, rows=grader.rows(sql), run=grader.rows_or_none)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM pet ORDER BY age",
        "select name from pet order by age desc limit 1;",
        "WITH old AS (SELECT * FROM pet) SELECT name FROM old ORDER BY 1",
        "SELECT name FROM pet UNION SELECT kind FROM pet ORDER BY 1",
        "SELECT max(age) FROM pet WHERE name = 'it''s' ORDER BY 1",
    ],
)
def test_an_outermost_order_by_orders(sql):
    assert is_ordered(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM pet",
        "SELECT name FROM (SELECT name FROM pet ORDER BY age)",
        "SELECT name FROM pet WHERE age = (SELECT age FROM pet ORDER BY age LIMIT 1)",
        "WITH old AS (SELECT * FROM pet ORDER BY age) SELECT name FROM old",
        "SELECT rank() OVER (ORDER BY age) FROM pet",
        "SELECT 'order by age' FROM pet",
        "VALUES (1), (2)",
    ],
)
def test_an_order_by_inside_a_part_orders_nothing(sql):
    assert not is_ordered(sql)


def test_sql_that_cannot_be_parsed_is_judged_by_its_words():
    assert is_ordered("SELECT name FROM WHERE (age ORDER BY age")
    assert not is_ordered("SELECT name FROM WHERE (age ORDER BY age)")


@pytest.mark.parametrize(
    ("sql", "sizes"),
    [
        ("SELECT name FROM pet ORDER BY age", (3, 1, 1)),
        ("SELECT name, age FROM pet ORDER BY 2 DESC", (1, 1, 3)),
        ("SELECT name, age AS years FROM pet ORDER BY Years", (3, 1, 1)),
        ("SELECT kind, count(*) FROM pet GROUP BY kind ORDER BY count(*)", (1, 2)),
        ("SELECT * FROM pet ORDER BY age, kind", (1, 2, 1, 1)),
        ("SELECT name FROM pet ORDER BY age LIMIT 2", (2,)),
        ("SELECT name FROM pet WHERE age > 99 ORDER BY age", ()),
    ],
)
def test_rows_with_equal_sort_keys_tie(grader, sql, sizes):
    assert ties(grader, sql) == sizes


def test_keys_that_only_a_collation_makes_equal_do_not_tie(grader):
    sql = "SELECT name FROM pet WHERE kind LIKE 'dog' ORDER BY kind COLLATE NOCASE"
    assert sorted(ties(grader, sql)) == [1, 2]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT age FROM pet ORDER BY age",
        "SELECT name FROM pet UNION SELECT kind FROM pet ORDER BY 1",
        "SELECT *, name FROM pet ORDER BY 4",
        "SELECT age AS years FROM pet ORDER BY years + 1",
        "SELECT name FROM pet",
    ],
)
def test_where_ties_cannot_be_told_none_are(grader, sql):
    assert ties(grader, sql) == ()


def test_ties_are_not_believed_where_further_columns_change_the_rows():
    found = tie_sizes(
        "SELECT name FROM pet ORDER BY age",
        rows=[("Rex",), ("Ada",)],
        run=lambda sql: [("Ada", 3), ("Rex", 3)],
    )
    assert found == ()
