import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.guards import Calls, Guarded
from learnloop.control.pid import PIDGate
from learnloop.control.proportional import ProportionalGate
from learnloop.errors import EditingError, ParameterError
from learnloop.types import Decision

ERRORS = st.sampled_from([0.0, 0.0, 0.5, 1.0])
STREAMS = st.lists(st.tuples(st.booleans(), ERRORS, st.integers(0, 2)), max_size=60)


class Script:
    """A gate that opens where it is told to, and nowhere else."""

    def __init__(self, openings):
        self.openings = iter(openings)
        self.resets = []

    def decide(self, error):
        return Decision(opened=next(self.openings), signal=error, terms={"own": error})

    def reset(self, *, changed=True):
        self.resets.append(changed)


def opened(gate, errors):
    return [gate.decide(error).opened for error in errors]


@given(
    stream=STREAMS,
    limit=st.none() | st.integers(0, 9),
    reserve=st.integers(0, 3),
    pause=st.integers(0, 5),
    needs_error=st.booleans(),
)
def test_a_gate_may_open_exactly_where_the_formula_says(stream, limit, reserve, pause, needs_error):
    # eligible = [C + c <= B] and [errors since the reset > 0] and [steps since the reset > pause]
    calls = Calls(limit=limit, reserve=reserve)
    gate = Script([wants for wants, _, _ in stream])
    guarded = Guarded(gate, calls=calls, pause=pause, needs_error=needs_error)
    used, reset = 0, None
    for step, (wants, error, taken) in enumerate(stream):
        since = [e for _, e, _ in stream[0 if reset is None else reset + 1 : step + 1]]
        eligible = (
            (limit is None or used + reserve <= limit)
            and (not needs_error or sum(since) > 0)
            and (reset is None or step - reset > pause)
        )
        decision = guarded.decide(error)
        assert decision.opened == (wants and eligible)
        if decision.opened:
            calls.settle(min(taken, reserve))
            used, reset = used + min(taken, reserve), step
            guarded.reset()


@given(openings=st.lists(st.booleans(), max_size=60), pause=st.integers(0, 4))
def test_without_an_edit_the_gate_opens_after_the_longest_interval(openings, pause):
    guarded = Guarded(
        Script(openings), calls=Calls(limit=None), pause=pause, max_interval=pause + 3
    )
    since = 0
    for wants in openings:
        since += 1
        decision = guarded.decide(1.0)
        first = guarded.gate.resets == []
        assert decision.opened == ((wants and (first or since > pause)) or since >= pause + 3)
        assert ("overdue" in decision.terms) == (decision.opened and not wants)
        if decision.opened:
            guarded.reset()
            since = 0


def test_the_longest_interval_waits_for_an_error_and_for_money():
    calls = Calls(limit=1)
    guarded = Guarded(Script([False] * 9), calls=calls, max_interval=2)
    assert opened(guarded, [0.0, 0.0, 0.0, 1.0]) == [False, False, False, True]
    calls.settle(1)
    assert opened(guarded, [1.0]) == [False]


@pytest.mark.parametrize(
    ("limit", "pause", "errors", "held"),
    [
        (0, 0, [1.0], "no_budget"),
        (None, 0, [0.0], "no_error"),
        (0, 0, [0.0], "no_error"),
        (None, 2, [1.0], "paused"),
        (0, 2, [1.0], "paused"),
    ],
)
def test_what_held_the_gate_is_a_term_beside_its_own(limit, pause, errors, held):
    guarded = Guarded(Script([True] * 9), calls=Calls(limit=limit), pause=pause)
    if held == "paused":
        guarded.reset()
    decision = [guarded.decide(error) for error in errors][-1]
    assert not decision.opened
    assert decision.terms == {"own": errors[-1], held: 1.0}


def test_a_budget_of_nothing_allows_what_takes_nothing():
    assert not Calls(limit=0, reserve=1).affordable
    assert Calls(limit=0, reserve=0).affordable


def test_a_reset_reaches_the_gate_with_what_it_was():
    gate = Script([])
    guarded = Guarded(gate, calls=Calls(limit=None))
    guarded.reset(changed=False)
    guarded.reset(changed=True)
    assert gate.resets == [False, True]


def test_before_the_first_reset_there_is_no_pause():
    guarded = Guarded(ProportionalGate(), calls=Calls(limit=None), pause=5)
    assert opened(guarded, [1.0]) == [True]


def test_an_opening_held_in_a_pause_is_made_good_while_the_signal_stays_up():
    # By itself the gate reports a crossing once, here in the pause, and would wait for calm.
    gate = PIDGate(kp=1.0, ki=0.0, kd=0.0, open_at=0.8, rearm_at=0.2)
    guarded = Guarded(gate, calls=Calls(limit=None), pause=2)
    guarded.reset()
    assert opened(guarded, [1.0, 1.0, 1.0]) == [False, False, True]


def test_an_opening_held_in_a_pause_is_forgotten_once_the_signal_fell():
    gate = PIDGate(kp=1.0, ki=0.0, kd=0.0, open_at=0.8, rearm_at=0.2)
    guarded = Guarded(gate, calls=Calls(limit=None), pause=2)
    guarded.reset()
    assert opened(guarded, [1.0, 0.5, 0.5, 1.0]) == [False, False, False, False]


@given(errors=st.lists(ERRORS, max_size=40), pause=st.integers(0, 4))
def test_a_gate_that_judges_each_error_anew_owes_nothing(errors, pause):
    guarded = Guarded(ProportionalGate(), calls=Calls(limit=None), pause=pause)
    for error in errors:
        decision = guarded.decide(error)
        assert "owed" not in decision.terms
        if decision.opened:
            guarded.reset()


def test_an_editor_that_takes_more_than_it_said_is_found_out():
    calls = Calls(limit=9, reserve=1)
    with pytest.raises(EditingError, match="took 3 calls and had said that 1"):
        calls.settle(3)
    assert calls.used == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Calls(limit=-1), "at least 0, not -1"),
        (lambda: Calls(limit=None, reserve=-1), "at least 0, not -1"),
        (lambda: Calls(limit=None).settle(-1), "at least 0 calls, not -1"),
        (lambda: Guarded(Script([]), calls=Calls(limit=1), pause=-1), "pause"),
        (
            lambda: Guarded(Script([]), calls=Calls(limit=1), pause=3, max_interval=3),
            "longer than the pause of 3, not 3",
        ),
    ],
)
def test_a_number_out_of_range_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_decision_that_nothing_held_is_that_of_the_gate():
    plain = Script([True, False])
    guarded = Guarded(Script([True, False]), calls=Calls(limit=None))
    for error in (1.0, 1.0):
        assert guarded.decide(error) == plain.decide(error)
