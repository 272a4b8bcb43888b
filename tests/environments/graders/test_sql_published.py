"""What the published code reads as SQL and calls right; expected verdicts by reading that code."""

import pytest

from learnloop.environments.graders.sql import Failure, Result
from learnloop.environments.graders.sql_published import parse_published_sql, published_grade


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        ("  SELECT 1\n", "SELECT 1"),
        ("select 1", "SELECT select 1"),
        ("WITH t AS (SELECT 1) SELECT * FROM t", "SELECT WITH t AS (SELECT 1) SELECT * FROM t"),
        ("name FROM pet", "SELECT name FROM pet"),
        ("", "SELECT "),
        ("It is:\nSELECT 1", "SELECT It is:\nSELECT 1"),
    ],
)
def test_without_a_fence_the_whole_reply_is_sql_and_must_begin_with_select(reply, sql):
    assert parse_published_sql(reply) == sql


@pytest.mark.parametrize(
    "reply",
    [
        "```sql\nSELECT 1\n```",
        "```sql\nSELECT 1```",
        "Here it is:\n```sql\nSELECT 1\n```\nIt counts.",
        "```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```\nSure.",
        "```SQL\nSELECT 1\n```",
        "```SELECT 1```",
    ],
)
def test_the_text_of_a_fenced_block_is_sql(reply):
    assert parse_published_sql(reply) == "SELECT 1"


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("```sqlite\nSELECT 1\n```", "SELECT sqlite\nSELECT 1"),
        ("```\nSELECT 1\n```\nIt counts.", "SELECT 1\n\nIt counts."),
        ("SELECT 1\n```", "SELECT "),
        ("```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```", "SELECT 1\n```\n```sql\nSELECT 2"),
    ],
)
def test_other_fences_are_read_badly_as_published(reply, sql):
    assert parse_published_sql(reply) == sql


def result(*rows):
    return Result(rows=rows, columns=len(rows[0]) if rows else 1)


FAILURE = Failure(why="invalid", detail="no such column: x")


@pytest.mark.parametrize(
    ("got", "want", "correct"),
    [
        (result((1,), (2,)), result((2,), (1,)), True),
        (result((1,), (1,)), result((1,)), True),
        (result((1,)), result((1.0,)), True),
        (result((3.33,)), result((10 / 3,)), False),
        (result(("7",)), result((7,)), False),
        (result((1, 2)), result((1,)), False),
        (result(), result((1,)), False),
        (result((1,)), result(), False),
        (FAILURE, result((1,)), False),
        (result((1,)), FAILURE, False),
        (FAILURE, FAILURE, False),
    ],
)
@pytest.mark.parametrize("empty", ["wrong", "right"])
def test_rows_are_compared_as_a_set_and_exactly(got, want, correct, empty):
    assert published_grade(got, want, empty=empty).correct is correct


def test_nothing_equals_nothing_only_where_asked():
    nothing = Result(rows=(), columns=2)
    assert published_grade(result(), nothing).why == "empty result"
    assert published_grade(result(), nothing, empty="right").correct
