import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import RequestRefusedError
from learnloop.server.config import Limits
from learnloop.server.key_limits import Shares


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def shares(clock, **limits):
    return Shares(Limits(**limits), clock=clock)


def passes(limits, caller="key_1"):
    try:
        limits.enter(caller)
    except RequestRefusedError:
        return False
    limits.leave(caller)
    return True


def test_a_bucket_fills_evenly():
    clock = Clock()
    limits = shares(clock, requests_per_minute=6)
    assert [passes(limits) for _ in range(7)] == [True] * 6 + [False]
    clock.seconds = 9.9
    assert not passes(limits)
    clock.seconds = 10.1
    assert passes(limits)
    assert not passes(limits)
    clock.seconds = 1000.0
    assert [passes(limits) for _ in range(7)] == [True] * 6 + [False]


@given(st.lists(st.floats(0, 30), min_size=1, max_size=40))
def test_never_more_than_a_burst_and_what_fills_in_meanwhile(waits):
    clock = Clock()
    limits = shares(clock, requests_per_minute=6)
    let_in = 0
    for wait in waits:
        clock.seconds += wait
        let_in += passes(limits)
    assert let_in <= 6 + clock.seconds * 6 / 60 + 1e-6


def test_the_wait_that_is_told_is_enough():
    clock = Clock()
    limits = shares(clock, requests_per_minute=1)
    assert passes(limits)
    with pytest.raises(RequestRefusedError) as refused:
        limits.enter("key_1")
    clock.seconds += refused.value.retry_after
    assert passes(limits)


def test_only_so_many_at_once():
    limits = shares(Clock(), concurrent_requests=2)
    limits.enter("key_1")
    limits.enter("key_1")
    with pytest.raises(RequestRefusedError, match="being answered already") as refused:
        limits.enter("key_1")
    assert (refused.value.status, refused.value.code) == (429, "concurrency_limit_exceeded")
    limits.enter("key_2")
    limits.leave("key_1")
    limits.enter("key_1")


def test_callers_without_number_are_forgotten_but_not_those_being_answered():
    limits = shares(Clock(), requests_per_minute=1)
    limits.enter("first")
    for n in range(20_000):
        passes(limits, f"caller{n}")
    limits.leave("first")
    assert len(limits._shares) <= 10_000
    assert not passes(limits, "first")
