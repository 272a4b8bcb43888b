import sqlite3
from contextlib import closing

import pytest

from learnloop.environments.graders.sql_functions import MAX_CHARACTERS, bound_functions


@pytest.fixture
def connection():
    with (
        closing(sqlite3.connect(":memory:")) as within,
        closing(sqlite3.connect(":memory:")) as one,
    ):
        for each in (within, one):
            each.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CHARACTERS)
        bound_functions(one, within=within)
        yield one


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("printf('%.2f', 3.14159)", "3.14"),
        ("format('%05d', 7)", "00007"),
        ("printf('%s, %s', 'Lee', 'Ann')", "Lee, Ann"),
        ("printf('%.*f', 1, 2.25)", "2.3"),
        ("printf('%d of 2024', 3)", "3 of 2024"),
        ("printf()", None),
        ("printf(NULL)", None),
        ("trim('xxaxx', 'x')", "a"),
        ("ltrim('  a ')", "a "),
        ("rtrim(1.5, '5')", "1."),
        ("trim(NULL, 'x')", None),
    ],
)
def test_what_asks_for_little_is_what_it_always_was(connection, expression, value):
    assert connection.execute(f"SELECT {expression}").fetchone() == (value,)


@pytest.mark.parametrize(
    "expression",
    [
        "printf('%.*c', 1000000000, 'x')",
        "printf('%.1000000000c', 'x')",
        "printf('%1000000000d', 1)",
        "trim('a', replace(printf('%.5000c', 'a'), 'a', 'bc'))",
    ],
)
def test_what_no_deadline_could_stop_is_too_large(connection, expression):
    with pytest.raises(sqlite3.DataError, match="too big"):
        connection.execute(f"SELECT {expression}").fetchone()
