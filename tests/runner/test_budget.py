import pytest

from learnloop.errors import ParameterError
from learnloop.records.schema import CallRecord, CallTiming, StepRecord, StepTiming
from learnloop.runner.budget import Budget, Spending


def spend(spending, *, replayed=False):
    calls = (CallRecord(role="answer", model="m", tokens_in=90, tokens_out=10),) * 2
    timed = (CallTiming(role="answer", seconds=0, tokens_cached=0, replayed=replayed),) * 2
    record = StepRecord(step=0, query_id="q", query="?", group="", answer="", score=0, calls=calls)
    spending.add(record, StepTiming(step=0, seconds=0, calls=timed))


@pytest.mark.parametrize(
    ("budget", "steps"), [({"max_calls": 5}, 3), ({"max_tokens": 400}, 2), ({"max_calls": 2}, 1)]
)
def test_a_limit_is_reached_after_the_step_that_spends_it(budget, steps):
    # A step makes 2 calls of 100 tokens.
    spending = Spending(Budget(**budget), clock=lambda: 0.0)
    for _ in range(steps):
        assert spending.why_stop() is None
        spend(spending)
    assert next(iter(budget)) in spending.why_stop()


def test_replayed_calls_cost_nothing():
    spending = Spending(Budget(max_calls=1, max_tokens=1), clock=lambda: 0.0)
    spend(spending, replayed=True)
    assert spending.why_stop() is None


def test_time_runs_from_the_beginning():
    readings = iter([100.0, 109.0, 110.0])
    spending = Spending(Budget(max_seconds=10), clock=lambda: next(readings))
    assert spending.why_stop() is None
    assert "max_seconds = 10" in spending.why_stop()


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_seconds"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_must_be_positive(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be positive, got {value}"):
        Budget(**{name: value})
