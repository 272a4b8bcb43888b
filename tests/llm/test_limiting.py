import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import ModelServerError, ParameterError, RateLimitError
from learnloop.llm.limiting import Limited, Limiter
from learnloop.llm.retrying import Retrying
from learnloop.llm.scripted import Scripted
from learnloop.types import Message, Options

ASK = [Message(role="user", content="How many?")]


class Time:
    """A clock that goes on only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def limiter_at(time: Time, *, calls_a_minute: float | None = None) -> Limiter:
    return Limiter(calls_a_minute=calls_a_minute, clock=time.clock, sleep=time.sleep)


def test_nothing_waits_while_nothing_was_refused() -> None:
    time = Time()
    limiter = limiter_at(time)
    for _ in range(1000):
        limiter.begin()
        limiter.answered()
    assert (time.slept, limiter.rate) == ([], None)


def test_a_given_rate_is_kept_from_the_first_call_on() -> None:
    time = Time()
    limiter = limiter_at(time, calls_a_minute=30)
    for _ in range(31):
        limiter.begin()
    assert time.now == pytest.approx(60.0)


def test_a_refusal_halves_the_rate_that_there_was() -> None:
    time = Time()
    limiter = limiter_at(time)
    for _ in range(39):
        limiter.begin()
        time.now += 1.0
    begun = limiter.begin()
    limiter.refused(begun, retry_after=0.0)
    assert limiter.rate == 20


def test_calls_that_were_under_way_together_halve_the_rate_once() -> None:
    limiter = limiter_at(Time(), calls_a_minute=64)
    begun = [limiter.begin() for _ in range(8)]
    for number in begun:
        limiter.refused(number, retry_after=0.0)
    assert limiter.rate == 32
    limiter.refused(limiter.begin(), retry_after=0.0)
    assert limiter.rate == 16


def test_answers_raise_the_rate_little_by_little_and_never_over_what_was_given() -> None:
    limiter = limiter_at(Time(), calls_a_minute=40)
    limiter.refused(limiter.begin(), retry_after=0.0)
    for _ in range(10):
        limiter.answered()
    assert limiter.rate == pytest.approx(21.0)  # a tenth of a call a minute each
    for _ in range(1000):
        limiter.answered()
    assert limiter.rate == 40


def test_everybody_waits_as_long_as_the_server_asks() -> None:
    time = Time()
    limiter = limiter_at(time)
    limiter.refused(limiter.begin(), retry_after=17.0)
    limiter.begin()
    assert time.now >= 17.0


def test_where_the_server_does_not_say_the_pause_doubles_until_an_answer() -> None:
    time = Time()
    limiter = limiter_at(time, calls_a_minute=60_000)
    pauses = []
    begun = limiter.begin()
    for _ in range(6):
        before = time.now
        limiter.refused(begun, retry_after=None)
        begun = limiter.begin()
        pauses.append(time.now - before)
    assert pauses == pytest.approx([5.0, 10.0, 20.0, 40.0, 60.0, 60.0])
    limiter.answered()
    before = time.now
    limiter.refused(limiter.begin(), retry_after=None)
    limiter.begin()
    assert time.now - before == pytest.approx(5.0, abs=0.1)


def test_a_first_refusal_of_few_calls_does_not_bring_all_to_a_halt() -> None:
    limiter = limiter_at(Time())
    limiter.refused(limiter.begin(), retry_after=0.0)
    assert limiter.rate == 10.0


def test_the_rate_never_falls_to_nothing() -> None:
    limiter = limiter_at(Time())
    for _ in range(50):
        limiter.refused(limiter.begin(), retry_after=0.0)
    assert limiter.rate == 1.0


def test_a_rate_that_allows_nothing_is_an_error() -> None:
    with pytest.raises(ParameterError, match="calls_a_minute must be at least 1, got 0"):
        Limiter(calls_a_minute=0)


@given(st.lists(st.sampled_from(["answered", "refused", "refused_with_wait"]), max_size=60))
def test_the_rate_stays_in_its_bounds_and_calls_always_begin_in_the_end(events: list[str]) -> None:
    time = Time()
    limiter = limiter_at(time, calls_a_minute=50)
    for event in events:
        begun = limiter.begin()
        if event == "answered":
            limiter.answered()
        else:
            limiter.refused(begun, retry_after=2.0 if event == "refused_with_wait" else None)
        assert limiter.rate is not None
        assert 1.0 <= limiter.rate <= 50.0


def test_beneath_the_retries_a_call_outlasts_a_full_minute_of_refusals() -> None:
    time = Time()
    refusals = {number: RateLimitError("slow down") for number in range(4)}
    model = Scripted(["yes"], failures=refusals)
    limited = Limited(model, limiter_at(time))
    reply = Retrying(limited, sleep=time.sleep).complete(ASK, options=Options())
    assert reply.text == "yes"
    assert time.now > 60.0


def test_other_failures_say_nothing_about_the_rate() -> None:
    limiter = limiter_at(Time())
    model = Limited(Scripted([], failures={0: ModelServerError("down")}), limiter)
    with pytest.raises(ModelServerError):
        model.complete(ASK, options=Options())
    assert limiter.rate is None


def test_an_endpoint_that_bears_sixty_a_minute_is_used_well_and_rarely_overrun() -> None:
    time = Time()
    limiter = limiter_at(time)
    starts: list[float] = []
    refused = 0
    for _ in range(3000):
        begun = limiter.begin()
        time.now += 0.1
        lately = [start for start in starts[-60:] if start > time.now - 60.0]
        if len(lately) >= 60:
            refused += 1
            limiter.refused(begun, retry_after=None)
        else:
            starts.append(time.now)
            limiter.answered()
    assert refused / 3000 < 0.02
    assert len(starts) / (time.now / 60.0) > 0.6 * 60


def test_threads_that_share_a_limiter_take_turns() -> None:
    limiter = Limiter(calls_a_minute=6000, sleep=lambda seconds: None)
    model = Limited(Scripted(lambda messages, options: "yes"), limiter)
    threads = [
        threading.Thread(target=model.complete, args=(ASK,), kwargs={"options": Options()})
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limiter.rate == 6000
