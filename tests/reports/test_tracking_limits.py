import itertools
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.reports.tracking_limits import (
    hold,
    least_rmse,
    rmse_rule_of_thumb,
    send_on_delta,
    sinusoid,
    variation,
)

TARGETS = st.lists(st.integers(-50, 50), min_size=1, max_size=8)


def by_all_staircases(target, edits):
    """Return the least error over every choice of so many steps to edit at."""
    least = math.inf
    for cuts in itertools.combinations(range(1, len(target)), min(edits, len(target) - 1)):
        ends = [0, *cuts, len(target)]
        parts = [target[start:end] for start, end in itertools.pairwise(ends)]
        least = min(least, sum(statistics.pvariance(part) * len(part) for part in parts))
    return math.sqrt(least / len(target))


@pytest.mark.parametrize(
    ("every", "edits", "rmse"), [(3, 40, 2.87), (5, 24, 5.42), (8, 15, 9.21), (15, 8, 17.7)]
)
def test_holding_for_so_many_steps_is_as_near_as_known(every, edits, rmse):
    found = hold(sinusoid(), every)
    assert found.edits == edits
    assert found.rmse == pytest.approx(rmse, abs=0.01)


@pytest.mark.parametrize(
    ("delta", "edits", "rmse"),
    [(2, 83, 2.46), (5, 35, 4.15), (10, 17, 6.60), (15, 11, 8.64), (20, 5, 13.5)],
)
def test_sending_on_a_distance_is_as_near_as_known(delta, edits, rmse):
    found = send_on_delta(sinusoid(), delta)
    assert found.edits == edits
    assert found.rmse == pytest.approx(rmse, abs=0.005)


def test_a_held_line_is_off_by_its_climb():
    found = hold([0, 1, 2, 3, 4, 5], 3)
    assert found.rmse == pytest.approx(math.sqrt(5 / 3))


def test_sending_on_a_distance_by_hand():
    found = send_on_delta([0, 1, 2, 3], 2)
    assert found.edits == 1
    assert found.rmse == pytest.approx(math.sqrt((0 + 1 + 4 + 1) / 4))


def test_the_variation_of_a_sinusoid_is_six_amplitudes_but_for_its_last_step():
    target = sinusoid(amplitude=40)
    last_step = 40 * 2 * math.pi * 1.5 / 120
    assert 6 * 40 - last_step - 0.5 <= variation(target) <= 6 * 40
    assert rmse_rule_of_thumb(target, 20) == pytest.approx(math.sqrt(3) * 40 / 20, rel=0.02)


@settings(max_examples=60, deadline=None)
@given(TARGETS, st.integers(0, 9))
def test_the_least_error_is_that_of_the_best_of_all_staircases(target, edits):
    found = least_rmse(target, edits)[-1]
    assert found.edits == edits
    assert found.rmse == pytest.approx(by_all_staircases(target, edits), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(TARGETS, st.integers(1, 5), st.floats(0.5, 30))
def test_no_rule_goes_below_the_least_error_for_its_edits(target, every, delta):
    for point in (hold(target, every), send_on_delta(target, delta)):
        assert point.rmse >= least_rmse(target, point.edits)[-1].rmse - 1e-5
    assert send_on_delta(target, delta).edits <= variation(target) / delta + 1e-9


@given(TARGETS)
def test_more_edits_never_make_the_least_error_larger(target):
    errors = [point.rmse for point in least_rmse(target, 8)]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(errors))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hold([], 3), "target must not be empty"),
        (lambda: hold([1.0], 0), "every must be at least 1, got 0"),
        (lambda: send_on_delta([1.0], 0), "delta must be above 0, got 0"),
        (lambda: least_rmse([1.0], -1), "most_edits must be at least 0, got -1"),
        (lambda: rmse_rule_of_thumb([1.0], 0), "edits must be at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(ParameterError, match=said):
        call()
