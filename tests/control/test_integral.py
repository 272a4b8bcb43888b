import numpy as np
import pytest
from scipy import stats

from learnloop.control.integral import IntegralGate


@pytest.mark.parametrize(("window", "threshold"), [(8, 3), (10, 4)])
def test_a_full_window_alarms_as_often_as_the_binomial_says(window, threshold):
    rng = np.random.default_rng(2)
    noise, runs = 0.2, 4000
    alarms = 0
    for errors in (rng.random((runs, window)) < noise).astype(float).tolist():
        gate = IntegralGate(window=window, threshold=threshold)
        alarms += [gate.decide(error) for error in errors][-1].opened
    expected = stats.binom.sf(threshold - 1, window, noise)
    spread = np.sqrt(expected * (1 - expected) / runs)
    assert abs(alarms / runs - expected) <= 4 * spread


def test_a_reset_empties_the_window_whether_the_prompt_changed_or_not():
    for changed in (True, False):
        gate = IntegralGate(window=4, threshold=2)
        gate.decide(1.0)
        gate.reset(changed=changed)
        assert gate.decide(1.0).terms["i"] == 1.0


def test_errors_leave_by_the_end_of_the_window():
    gate = IntegralGate(window=3, threshold=3)
    sums = [gate.decide(error).signal for error in (1.0, 0.5, 0.0, 0.0, 0.0)]
    assert sums == [1.0, 1.5, 1.5, 0.5, 0.0]


def test_the_change_point_is_the_first_error_in_the_window():
    gate = IntegralGate(window=3, threshold=3)
    points = [gate.decide(error).change_point for error in (0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0)]
    assert points == [None, 1, 1, 1, 3, 3, None]
