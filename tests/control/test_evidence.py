import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.evidence import recent, since_change
from learnloop.errors import ParameterError
from learnloop.types import Decision, Episode, Query, Source

COUNTS = st.integers(0, 20)


def episodes(count, *, first=0):
    return [
        Episode(
            id=f"q{n}",
            query=Query(id=f"q{n}", text="?"),
            answer="",
            step=n,
            source=Source(kind="model"),
        )
        for n in range(first, first + count)
    ]


def decision(change_point=None):
    return Decision(opened=True, signal=1.0, terms={}, change_point=change_point)


@given(count=COUNTS, k=st.integers(1, 10), change=st.none() | COUNTS)
def test_the_most_recent_are_the_last_ones_whatever_the_gate_thinks(count, k, change):
    chosen = recent(k)(episodes(count), decision(change))
    assert [episode.step for episode in chosen] == list(range(max(0, count - k), count))


@given(count=st.integers(1, 20), k=st.integers(1, 10), change=COUNTS, first=COUNTS)
def test_those_since_the_change_are_no_older_than_it(count, k, change, first):
    chosen = since_change(k)(episodes(count, first=first), decision(change))
    last = first + count
    since = list(range(max(first, change, last - k), last))
    assert [episode.step for episode in chosen] == (since or [last - 1])


@given(count=COUNTS, k=st.integers(1, 10))
def test_without_an_estimate_those_since_the_change_are_the_most_recent(count, k):
    given_ones = episodes(count)
    assert since_change(k)(given_ones, decision()) == recent(k)(given_ones, decision())


@pytest.mark.parametrize("select", [recent(8), since_change(8)])
def test_of_nothing_nothing_is_chosen(select):
    assert list(select([], decision(3))) == []


@pytest.mark.parametrize("rule", [recent, since_change])
def test_evidence_of_no_episode_is_refused(rule):
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        rule(0)
