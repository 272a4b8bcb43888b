import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.leaky_integral import LeakyIntegralGate
from learnloop.control.pid import PIDGate

ERRORS = st.lists(st.floats(0, 1), max_size=60)


@given(errors=ERRORS, leak=st.floats(0.7, 1.0))
def test_with_its_other_gains_at_zero_it_is_the_leaky_integral(errors, leak):
    shape = {"leak": leak, "setpoint": 0.5, "limit": 4.0}
    pid = PIDGate(kp=0.0, ki=1.0, kd=0.0, open_at=1.2, rearm_at=0.5, **shape)
    integral = LeakyIntegralGate(threshold=1.2, **shape)
    for error in errors:
        one, other = pid.decide(error), integral.decide(error)
        assert (one.signal, one.opened) == (other.signal, other.opened)
        assert one.change_point == other.change_point
        if one.opened:
            pid.reset(changed=False)
            integral.reset(changed=False)


@given(errors=ERRORS)
def test_with_only_the_present_error_it_is_a_proportional_gate_that_waits_for_calm(errors):
    gate = PIDGate(kp=1.0, ki=0.0, kd=0.0, open_at=0.8, rearm_at=0.2)
    armed = True
    for error in errors:
        opens = armed and error >= 0.8 - 1e-9
        armed = not opens and (armed or error <= 0.2 + 1e-9)
        assert gate.decide(error).opened == opens


@given(error=st.floats(0, 1), weight=st.floats(0.05, 1.0))
def test_a_constant_error_has_no_derivative_from_the_first_step_on(error, weight):
    gate = PIDGate(filter=weight)
    assert [gate.decide(error).terms["d"] for _ in range(5)] == [0.0] * 5


@given(errors=ERRORS)
def test_the_signal_is_the_sum_of_its_terms(errors):
    gate = PIDGate()
    for error in errors:
        decision = gate.decide(error)
        assert decision.signal == sum(decision.terms[term] for term in "pid")


def test_the_derivative_is_the_rise_of_the_filtered_error_and_never_negative():
    gate = PIDGate(kd=1.0, filter=0.5)
    rises = [gate.decide(error).terms["d"] for error in (0.0, 1.0, 1.0, 0.0)]
    assert rises == [0.0, 0.5, 0.25, 0.0]


def test_it_opens_once_a_crossing_and_again_after_it_fell_to_the_lower_level():
    gate = PIDGate(kp=1.0, ki=0.0, kd=0.0, open_at=0.8, rearm_at=0.2)
    errors = (0.9, 0.9, 0.5, 0.9, 0.1, 0.9)
    opened = [gate.decide(error).opened for error in errors]
    assert opened == [True, False, False, False, False, True]


@pytest.mark.parametrize("changed", [True, False])
def test_a_reset_arms_it_again_and_empties_the_sum_only(changed):
    gate = PIDGate(kp=0.0, ki=1.0, kd=1.0, leak=1.0, open_at=1.0, rearm_at=0.2)
    opened = [gate.decide(1.0).opened for _ in range(3)]
    gate.reset(changed=changed)
    decision = gate.decide(1.0)
    assert opened == [False, True, False]
    assert decision.terms["i"] == 0.5
    assert decision.terms["d"] == 0.0  # the filter was at 1 and stayed there
    assert gate.decide(1.0).opened


def test_the_sum_is_clamped():
    gate = PIDGate(kp=0.0, ki=1.0, kd=0.0, leak=1.0, limit=2.0)
    assert [gate.decide(1.0).signal for _ in range(6)] == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]
