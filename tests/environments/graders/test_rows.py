import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.rows import same_rows

CELLS = st.one_of(
    st.none(), st.integers(-1000, 1000), st.text(max_size=3), st.floats(-1000, 1000, width=32)
)
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=12)


@given(ROWS, st.randoms(use_true_random=False))
def test_any_order_of_the_same_rows_is_the_same_where_order_is_not_asked_for(rows, rng):
    shuffled = rng.sample(rows, len(rows))
    assert same_rows(shuffled, rows, ordered=False)
    assert same_rows(rows, rows, ordered=True)


@given(ROWS.filter(bool))
def test_a_row_more_or_less_is_another_result(rows):
    assert not same_rows(rows[1:], rows, ordered=False)
    assert not same_rows([*rows, rows[0]], rows, ordered=False)


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (5, 5.0, True),
        (5, 6, False),
        (1_000_000, 1_000_001, False),
        (3.33, 10 / 3, True),
        (3.3, 10 / 3, False),
        (12.345, 12.34, True),
        (12.346, 12.34, False),
        (5, 5.004, True),
        (1e9 + 0.5, 1e9 + 0.6, True),
        ("7", 7, False),
        ("a", "A", False),
        (None, 0, False),
        (None, "", False),
        (b"a", "a", False),
        (float("inf"), float("inf"), True),
        (float("inf"), 1.0, False),
    ],
)
def test_cells_are_the_same_up_to_half_a_cent(got, want, same):
    assert same_rows([(got,)], [(want,)], ordered=False) is same


def test_the_same_row_twice_is_not_the_same_row_once_and_another():
    assert not same_rows(
        [("a", 1), ("a", 1), ("b", 1)], [("a", 1), ("b", 1), ("b", 1)], ordered=False
    )


def test_order_counts_where_it_is_asked_for():
    assert not same_rows([(2,), (1,)], [(1,), (2,)], ordered=True)


def test_columns_must_be_in_order():
    assert not same_rows([("a", "b")], [("b", "a")], ordered=False)


def test_rounded_numbers_pair_up_although_they_sort_otherwise():
    want = [(1.001, 9.0), (1.002, 1.0)]
    got = [(1.0, 1.0), (1.0, 9.0)]
    assert same_rows(got, want, ordered=False)


def test_ten_thousand_rows_of_numbers_compare():
    rng = random.Random(5)
    rows = [(rng.randrange(1000), rng.random()) for _ in range(10_000)]
    assert same_rows(rng.sample(rows, len(rows)), rows, ordered=False)
