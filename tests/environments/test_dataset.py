import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.dataset import Dataset, Edition, Graded, Item
from learnloop.errors import DataError
from learnloop.types import Prediction, Query, Task

TASK = Task(name="t", role="r", instructions="i", answer_format="f", metric="m")


def make(*, excluded=(), order="shuffled", count=12, series=1):
    items = [
        Item(
            query=Query(id=str(place), text=f"q{place}", group="ab"[place % 2]),
            gold="yes",
            series=str(place // series) if series > 1 else "",
        )
        for place in range(count)
    ]
    return Dataset(
        edition=Edition(id="t-v1", length=count, excluded=tuple(excluded)),
        task=TASK,
        items=items,
        grade=lambda item, answer: Graded(value=1.0, correct=True),
        order=order,
    )


def ids(dataset, *, seed):
    query, seen = dataset.reset(seed=seed), []
    while query is not None:
        seen.append(query.id)
        query = dataset.step(Prediction(query_id=query.id, text="")).query
    return seen


@given(st.sets(st.integers(0, 11), max_size=11), st.integers(0, 50))
def test_excluded_rows_leave_gaps_in_the_order_of_the_whole_stream(excluded, seed):
    places = [int(place) for place in np.random.default_rng(seed).permutation(12)]
    left = [str(place) for place in places if place not in excluded]
    dataset = make(excluded=map(str, excluded))
    assert ids(dataset, seed=seed) == left
    assert len(dataset) == len(dataset.queries) == len(left)


def test_a_series_without_one_of_its_rows_stays_together_in_its_order():
    seen = ids(make(excluded=["4"], series=3), seed=7)
    first = seen.index("3")
    assert seen[first : first + 2] == ["3", "5"]


def test_excluded_rows_are_in_no_order():
    assert ids(make(excluded=["0", "3"], order="given", count=5), seed=1) == ["1", "2", "4"]
    grouped = ids(make(excluded=["0", "3"], order="by_db", count=6), seed=1)
    assert [int(each) % 2 for each in grouped] == [0, 0, 1, 1]


def test_the_note_counts_what_is_excluded_as_there():
    assert make(excluded=["0"]).note == "1 excluded, whose reference does not pass"


def test_a_stream_of_which_nothing_is_left_is_refused():
    with pytest.raises(DataError, match="no rows"):
        make(excluded=["0", "1"], count=2)
