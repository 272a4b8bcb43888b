import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.cusum import CUSUMGate
from learnloop.control.leaky_integral import LeakyIntegralGate

ERRORS = st.lists(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), max_size=80)
RESETS = st.sets(st.integers(0, 79))


@given(errors=ERRORS, m=st.integers(1, 6), kept=RESETS, changed=RESETS)
def test_with_its_set_point_at_one_half_and_no_leak_it_is_cusum_step_by_step(
    errors, m, kept, changed
):
    integral = LeakyIntegralGate(leak=1.0, setpoint=0.5, limit=1000, threshold=m / 2)
    cusum = CUSUMGate(threshold=m)
    for step, error in enumerate(errors):
        one, other = integral.decide(error), cusum.decide(error)
        assert 2 * one.signal == pytest.approx(other.signal, abs=1e-7)
        if abs(other.signal - m) > 1e-6 or other.signal == m:
            assert one.opened == other.opened
        for gate in (integral, cusum):
            if step in kept | changed:
                gate.reset(changed=step in changed)


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=80), kept=RESETS, changed=RESETS)
def test_it_dates_a_change_as_cusum_does(errors, kept, changed):
    integral, cusum = LeakyIntegralGate(limit=1000, threshold=1.5), CUSUMGate(threshold=3)
    for step, error in enumerate(errors):
        one, other = integral.decide(error), cusum.decide(error)
        assert (one.opened, one.change_point) == (other.opened, other.change_point)
        for gate in (integral, cusum):
            if step in kept | changed:
                gate.reset(changed=step in changed)


@pytest.mark.parametrize("bad", [6, 500])
def test_the_clamp_lets_go_at_once_however_long_the_bad_spell_was(bad):
    gate = LeakyIntegralGate(limit=3.0, threshold=1.5)
    for _ in range(bad):
        gate.decide(1.0)
    opened = [gate.decide(0.0).opened for _ in range(6)]
    assert opened == [True, True, True, False, False, False]  # 2.5, 2.0, 1.5, then below


def test_without_a_set_point_it_winds_up_on_noise_alone():
    errors = [1.0, *[0.0] * 9] * 10
    naive = LeakyIntegralGate(setpoint=0.0, limit=100.0, threshold=3.0)
    sound = LeakyIntegralGate(setpoint=0.5, limit=100.0, threshold=3.0)
    assert any(naive.decide(error).opened for error in errors)
    assert not any(sound.decide(error).opened for error in errors)


def test_a_leak_forgets_by_its_share():
    gate = LeakyIntegralGate(leak=0.5, setpoint=0.0, limit=10.0, threshold=2.0)
    sums = [gate.decide(error).signal for error in (1.0, 1.0, 0.0, 0.0)]
    assert sums == [1.0, 1.5, 0.75, 0.375]
