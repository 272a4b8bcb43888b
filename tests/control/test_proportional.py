import numpy as np
import pytest

from learnloop.control.proportional import ProportionalGate


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_the_run_to_a_false_alarm_is_one_over_the_noise(noise):
    errors = np.random.default_rng(1).random(40_000) < noise
    gate = ProportionalGate()
    alarms = [call for call, error in enumerate(errors) if gate.decide(float(error)).opened]
    runs = np.diff([-1, *alarms])
    assert abs(runs.mean() - 1 / noise) <= 4 * runs.std(ddof=1) / np.sqrt(len(runs))


def test_the_change_point_is_the_call_that_opened_counted_over_the_life_of_the_gate():
    gate = ProportionalGate()
    assert gate.decide(0.0).change_point is None
    assert gate.decide(1.0).change_point == 1
    gate.reset(changed=True)
    gate.reset(changed=False)
    assert gate.decide(1.0).change_point == 2


def test_graded_errors_below_the_threshold_are_a_dead_band():
    gate = ProportionalGate(threshold=0.3)
    assert [gate.decide(error).opened for error in (0.1, 0.29, 0.3)] == [False, False, True]
