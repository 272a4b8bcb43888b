import sqlite3

import pytest

from learnloop.environments.graders.sql import SQLGrader

TODAY = "2025-06-30"


@pytest.fixture(scope="module")
def grader(tmp_path_factory):
    path = tmp_path_factory.mktemp("today") / "empty.sqlite"
    sqlite3.connect(path).close()
    return SQLGrader(path, today=TODAY)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT date('now')", "2025-06-30"),
        ("SELECT date()", "2025-06-30"),
        ("SELECT DATE('NOW', '-90 days')", "2025-04-01"),
        ("SELECT datetime('now', 'start of month')", "2025-06-01 00:00:00"),
        ("SELECT strftime('%Y', 'now')", "2025"),
        ("SELECT CURRENT_DATE", "2025-06-30"),
        ("SELECT CURRENT_TIMESTAMP", "2025-06-30 00:00:00"),
        # 1 January 2000, noon, is Julian day 2451545.0; 30 June 2025 is 9312 days later
        ("SELECT julianday('now')", 2451544.5 + 9312),
    ],
)
def test_today_is_the_day_of_the_data(grader, sql, value):
    assert grader.rows(sql) == ((value,),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT date('2024-02-28', '+1 day')",
        "SELECT strftime('%d/%m/%Y', '2024-12-31')",
        "SELECT date(NULL)",
        "SELECT strftime('%j', 'no date')",
        "SELECT time('2024-02-28 10:11:12')",
    ],
)
def test_any_other_time_is_what_sqlite_says(grader, sql):
    assert grader.rows(sql) == tuple(sqlite3.connect(":memory:").execute(sql))
