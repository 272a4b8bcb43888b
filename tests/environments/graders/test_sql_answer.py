import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.sql_answer import parse_sql


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        ("  select a\nfrom b ;  ", "select a\nfrom b"),
        ("SELECT 1;\n\nThis counts one.", "SELECT 1"),
        ("SELECT 1\n\nThis query counts one; it is short.", "SELECT 1"),
        ("SELECT a\n\nFROM b;\n\nIt reads b.", "SELECT a\n\nFROM b"),
        ("```sql\nSELECT 1;\n```", "SELECT 1"),
        ("```\nSELECT 1\n```", "SELECT 1"),
        ("```SELECT 1```", "SELECT 1"),
        ("```sql SELECT 1```", "SELECT 1"),
        ("```sqlite\nSELECT 1\n```\nor\n```sql\nSELECT 2\n```", "SELECT 1"),
        ("Sure:\n```sql\nSELECT a,\n\n  b FROM c;\n```\nDone.", "SELECT a,\n\n  b FROM c"),
        ("```sql\nSELECT cut_off", "SELECT cut_off"),
        ("SQL: SELECT 1", "SELECT 1"),
        ("The answer is:\nSELECT 1;", "SELECT 1"),
        ("WITH t AS (SELECT 1) SELECT * FROM t;", "WITH t AS (SELECT 1) SELECT * FROM t"),
        ("with t as (select ';') select * from t", "with t as (select ';') select * from t"),
        ("SELECT ';' FROM \"a;b\"; DROP TABLE c", "SELECT ';' FROM \"a;b\""),
        ("SELECT 1 -- one; two\nFROM c; more", "SELECT 1 -- one; two\nFROM c"),
        ("SELECT a - 1 FROM b;", "SELECT a - 1 FROM b"),
        ("SELECT a, (\n  SELECT 2) FROM b", "SELECT a, (\n  SELECT 2) FROM b"),
        ("DELETE FROM c;", "DELETE FROM c"),
        ("I do not know.", "I do not know."),
        ("", ""),
    ],
)
def test_the_statement_is_found(reply, sql):
    assert parse_sql(reply) == sql


@given(st.text(alphabet="SELECT select `'\";-\n:sqlWITH*1", max_size=200))
def test_any_reply_gives_a_part_of_it(reply):
    assert parse_sql(reply) in reply


def test_a_long_reply_is_parsed_at_once():
    assert parse_sql("SELECT '" + "-" * 100_000).startswith("SELECT")
