import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.intervals import EVERYTHING, Interval, agreed, read_interval


@st.composite
def intervals_around(draw, number):
    return Interval(low=draw(st.integers(1, number)), high=draw(st.integers(number, 100)))


@pytest.mark.parametrize("text", ["60-69", "7", "1-100"])
def test_an_interval_is_written_as_it_was_read(text):
    assert str(read_interval(text)) == text


def test_a_margin_ends_at_1_and_100():
    assert str(read_interval("3-95").widened(4)) == "1-99"
    assert str(read_interval("3-98").widened(4)) == "1-100"


def test_intervals_meet_where_they_share_a_number():
    assert read_interval("1-5").meets(read_interval("5-9"))
    assert read_interval("5-9").meets(read_interval("1-5"))
    assert not read_interval("1-4").meets(read_interval("5-9"))


@given(st.data(), st.integers(1, 100))
def test_intervals_that_all_hold_a_number_agree_on_their_intersection(data, number):
    seen = data.draw(st.lists(intervals_around(number), min_size=1, max_size=8))
    low, high = max(each.low for each in seen), min(each.high for each in seen)
    assert agreed(seen) == Interval(low=low, high=high)
    assert low <= number <= high


@given(st.data(), st.integers(1, 50), st.integers(0, 3))
def test_a_minority_that_says_otherwise_is_outvoted(data, number, liars):
    """Four true intervals within 1 to 80, and fewer ones that lie above."""
    highs = data.draw(st.lists(st.integers(number, 80), min_size=4, max_size=4))
    lows = data.draw(st.lists(st.integers(1, number), min_size=4, max_size=4))
    true = [Interval(low=low, high=high) for low, high in zip(lows, highs, strict=True)]
    assert agreed([*true, *[read_interval("81-90")] * liars]) == agreed(true)


def test_of_two_stretches_the_one_that_the_newest_interval_reaches_is_taken():
    seen = [read_interval("10-19"), read_interval("60-69")]
    assert str(agreed(seen)) == "60-69"
    assert str(agreed(seen[::-1])) == "10-19"


def test_a_newest_interval_that_no_best_stretch_reaches_is_passed_over():
    seen = [read_interval("10-19"), read_interval("15-24"), read_interval("60-69")]
    assert str(agreed(seen)) == "15-19"


def test_what_is_believed_decides_between_numbers_in_as_many_intervals():
    assert str(agreed([read_interval("60-69")], believed=read_interval("1-64"))) == "60-64"
    assert str(agreed([read_interval("60-69")], believed=read_interval("1-9"))) == "60-69"
    assert str(agreed([read_interval("60-69")], believed=EVERYTHING)) == "60-69"
