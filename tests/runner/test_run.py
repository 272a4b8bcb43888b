from itertools import count

import pytest

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.errors import BudgetError, RateLimitError
from learnloop.runner.run import Instruments, StepJournal, run
from learnloop.types import Call, Event, Prediction, Query, Usage

ITEMS = [Item(query=Query(id=f"q{n}", text=f"number {n}?"), gold=str(n)) for n in range(6)]


class Ledger:
    def __init__(self):
        self.calls = []

    def drain(self):
        calls, self.calls = self.calls, []
        return calls


class Clean:
    """Every feedback arrives as it is, at once."""

    def sense(self, feedback, *, step):
        return [feedback]


class OneLate:
    """Every feedback arrives one step late."""

    def __init__(self):
        self._held = []

    def sense(self, feedback, *, step):
        late, self._held = self._held, [feedback]
        return late


class Pupil:
    """Answers what it was told, fails on the queries named, and notes what it hears."""

    def __init__(self, ledger, journal, *, fails=(), error=None):
        self.ledger = ledger
        self.journal = journal
        self.fails = fails
        self.error = error or RateLimitError("wait")
        self.heard = []

    def predict_one(self, query):
        usage = Usage(tokens_in=10, tokens_cached=4, tokens_out=1, seconds=0.25)
        if query.id in self.fails:
            self.ledger.calls.append(
                Call(role="answer", model="m", usage=Usage(), error="RateLimitError: wait")
            )
            raise self.error
        self.ledger.calls.append(Call(role="answer", model="m", usage=usage))
        return Prediction(query_id=query.id, text=query.id.removeprefix("q"))

    def learn_one(self, query, prediction, feedback):
        self.heard.append((query.id, prediction.query_id, feedback.target_id))
        self.journal.record(Event(kind="noted", text=feedback.id))
        self.ledger.calls.append(Call(role="policy", model="m", usage=Usage(tokens_in=5)))


class CannotLearn(Pupil):
    def learn_one(self, query, prediction, feedback):
        raise RateLimitError("not\nnow")


def run_all(pupil_class=Pupil, *, sensor=None, steps=None, seed=3, **params):
    ledger, journal, ticks = Ledger(), StepJournal(), count()
    pupil = pupil_class(ledger, journal, **params)
    outcomes = run(
        pupil,
        ListEnvironment(ITEMS),
        sensor=sensor or Clean(),
        seed=seed,
        steps=steps,
        instruments=Instruments(ledger=ledger, journal=journal, clock=lambda: float(next(ticks))),
    )
    return pupil, list(outcomes)


def test_every_query_of_the_stream_gets_one_record():
    _, outcomes = run_all()
    assert [one.record.step for one in outcomes] == list(range(6))
    assert {one.record.query_id for one in outcomes} == {item.query.id for item in ITEMS}
    assert all(one.record.score == 1.0 for one in outcomes)


def test_a_run_ends_after_the_steps_asked_for():
    _, outcomes = run_all(steps=2)
    assert len(outcomes) == 2


def test_the_seed_decides_the_order_and_nothing_else_does():
    orders = {seed: [o.record.query_id for o in run_all(seed=seed)[1]] for seed in (0, 1, 0)}
    again = [o.record.query_id for o in run_all(CannotLearn, seed=0, sensor=OneLate())[1]]
    assert orders[0] == again
    assert orders[0] != orders[1]


def test_a_failed_step_scores_zero_and_stays():
    _, outcomes = run_all(fails=("q2",))
    failed = next(one.record for one in outcomes if one.record.query_id == "q2")
    assert len(outcomes) == 6
    assert (failed.score, failed.answer, failed.why) == (0.0, "", "")
    assert failed.failed == "RateLimitError: wait"
    assert failed.calls[0].error == "RateLimitError: wait"


@pytest.mark.parametrize("sensor", [Clean, OneLate])
def test_nobody_learns_from_a_failed_step_however_late(sensor):
    pupil, outcomes = run_all(fails=("q2", "q4"), sensor=sensor())
    targets = [target for _, _, target in pupil.heard]
    recorded = [f.target_id for one in outcomes for f in one.record.feedback]
    assert "q2" not in targets + recorded
    assert "q4" not in targets + recorded
    assert targets == recorded


def test_late_feedback_is_learnt_with_its_own_query_and_prediction():
    pupil, outcomes = run_all(sensor=OneLate())
    assert all(query == prediction == target for query, prediction, target in pupil.heard)
    order = [one.record.query_id for one in outcomes]
    assert [target for _, _, target in pupil.heard] == order[:-1]


def test_learning_that_fails_is_an_event_and_the_run_goes_on():
    _, outcomes = run_all(CannotLearn)
    assert len(outcomes) == 6
    assert [event.text for event in outcomes[0].record.events] == ["RateLimitError: not now"]


def test_calls_events_and_times_belong_to_their_step():
    _, outcomes = run_all()
    for one in outcomes:
        assert [call.role for call in one.record.calls] == ["answer", "policy"]
        assert [call.tokens_cached for call in one.timing.calls] == [4, 0]
        assert [event.kind for event in one.record.events] == ["noted"]
        # The clock ticks once a reading: at the beginning and at the end of a step.
        assert one.timing.seconds == 1.0


def test_a_call_over_a_limit_is_no_failed_step():
    with pytest.raises(BudgetError):
        run_all(fails=("q0",), error=BudgetError("no"))
