import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.reports.run_lengths import (
    bernoulli_divergence,
    error_rates,
    least_delay,
    mean_run_length,
    run_lengths,
    trial_length,
)

RATES = st.floats(0.05, 0.95)
THRESHOLDS = st.integers(1, 8)

# eta: (divergence, [(run length, delay) at thresholds 1, 2, ...]), to the digits that stand here
KNOWN = {
    0.02: (3.736, [(50, 1.02), (2_550, 2.06), (1.25e5, 3.10), (6.13e6, 4.14), (3.00e8, 5.19)]),
    0.05: (2.650, [(20, 1.05), (420, 2.16), (8_040, 3.27), (1.53e5, 4.38), (2.90e6, 5.49)]),
    0.10: (1.758, [(10, 1.11), (110, 2.35), (1_020, 3.59), (9_220, 4.84), (8.3e4, 6.09)]),
    0.20: (0.8318, [(5, 1.25), (30, 2.81), (135, 4.45), (560, 6.11), (2_265, 7.78)]),
    0.30: (0.3389, [(3.3, 1.43), (14.4, 3.47), (43.7, 5.77), (115, 8.19), (286, 10.65)]),
}


def solved(threshold, rate):
    """Return the mean hitting time from zero, from the linear equations of the chain."""
    chain = np.zeros((threshold, threshold))
    for level in range(threshold):
        chain[level, max(level - 1, 0)] += 1 - rate
        if level + 1 < threshold:
            chain[level, level + 1] += rate
    return np.linalg.solve(np.eye(threshold) - chain, np.ones(threshold))[0]


@pytest.mark.parametrize("eta", KNOWN)
def test_run_lengths_and_delays_are_the_known_ones(eta):
    divergence, points = KNOWN[eta]
    assert bernoulli_divergence(1 - eta, eta) == pytest.approx(divergence, abs=5e-4)
    found = run_lengths(eta, thresholds=range(1, 6))
    assert [point.false_alarm for point in found] == pytest.approx([p[0] for p in points], rel=0.02)
    assert [point.delay for point in found] == pytest.approx([p[1] for p in points], abs=0.006)


@given(THRESHOLDS, RATES)
def test_a_run_length_solves_the_equations_of_the_chain(threshold, rate):
    assert mean_run_length(threshold, rate) == pytest.approx(solved(threshold, rate), rel=1e-6)


@given(THRESHOLDS, RATES.filter(lambda rate: abs(rate - 0.5) > 0.01))
def test_a_run_length_is_the_geometric_closed_form(threshold, rate):
    ratio = (1 - rate) / rate
    climb = ratio * (ratio**threshold - 1) / (ratio - 1) ** 2 - threshold / (ratio - 1)
    assert mean_run_length(threshold, rate) == pytest.approx(climb / rate, rel=1e-6)


@pytest.mark.parametrize("off", [0.0, 1e-15, -1e-12, 1e-9])
@given(threshold=THRESHOLDS)
def test_a_fair_walk_takes_m_times_m_plus_one_steps(off, threshold):
    expected = threshold * (threshold + 1)
    assert mean_run_length(threshold, 0.5 + off) == pytest.approx(expected, rel=1e-6)


@given(THRESHOLDS, RATES)
def test_a_higher_threshold_waits_longer_and_more_errors_wait_less(threshold, rate):
    here = mean_run_length(threshold, rate)
    assert mean_run_length(threshold + 1, rate) > here
    assert mean_run_length(threshold, rate + 0.01) < here


def test_without_noise_nothing_is_false_and_the_delay_is_the_threshold():
    for point in run_lengths(0.0):
        assert point.false_alarm == math.inf
        assert point.delay == point.threshold


def test_a_run_length_beyond_all_numbers_is_infinite():
    assert mean_run_length(5, 1e-200) == math.inf


@given(st.floats(0, 1), st.floats(0, 1))
def test_two_classes_have_the_rates_of_two_flips_in_a_row(eta, slip):
    rates = error_rates(eta, slip=slip)
    assert rates.healthy == pytest.approx(slip + eta - 2 * slip * eta)
    assert rates.stale == pytest.approx(1 - rates.healthy)


def test_five_classes_by_hand():
    rates = error_rates(0.2, classes=5)
    assert (rates.healthy, rates.stale) == pytest.approx((0.2, 0.95))
    slipping = error_rates(0.2, slip=0.1, classes=5)
    assert slipping.healthy == pytest.approx(0.9 * 0.2 + 0.1 * 0.95)
    assert slipping.stale == pytest.approx(0.9 * 0.95 + 0.1 * (0.25 * 0.2 + 0.75 * 0.95))


def test_rates_that_do_not_differ_carry_no_evidence():
    assert bernoulli_divergence(0.3, 0.3) == 0
    assert bernoulli_divergence(1.0, 0.0) == math.inf


@pytest.mark.parametrize("eta", [0.05, 0.1, 0.2, 0.3])
def test_the_least_delay_goes_through_the_points_and_between_them(eta):
    low, high = run_lengths(eta, thresholds=[2, 3])
    assert least_delay(low.false_alarm, eta) == pytest.approx(low.delay)
    assert least_delay(high.false_alarm, eta) == pytest.approx(high.delay)
    middle = least_delay((low.false_alarm + high.false_alarm) / 2, eta)
    assert middle == pytest.approx((low.delay + high.delay) / 2)


@pytest.mark.parametrize(
    ("eta", "threshold", "error", "steps"),
    [(0.1, 2, 0.012, 2.4), (0.2, 2, 0.059, 2.9), (0.2, 3, 0.015, 4.8)],
)
def test_a_trial_is_as_long_and_as_wrong_as_known(eta, threshold, error, steps):
    found = trial_length(threshold, eta)
    assert found.error == pytest.approx(error, abs=5e-4)
    assert found.steps == pytest.approx(steps, abs=0.06)


@given(THRESHOLDS, RATES.filter(lambda rate: abs(rate - 0.5) > 0.01))
def test_a_trial_has_the_length_that_its_drift_implies(threshold, eta):
    found = trial_length(threshold, eta)
    expected = threshold * (1 - 2 * found.error) / (1 - 2 * eta)
    assert found.steps == pytest.approx(expected, rel=1e-9)


@given(THRESHOLDS)
def test_a_trial_on_pure_noise_is_a_coin_and_takes_the_square(threshold):
    found = trial_length(threshold, 0.5)
    assert (found.error, found.steps) == pytest.approx((0.5, threshold**2))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mean_run_length(0, 0.1), "threshold must be an integer from 1, got 0"),
        (lambda: mean_run_length(1, 1.5), "rate must be from 0 to 1, got 1.5"),
        (lambda: error_rates(-0.1), "eta must be from 0 to 1"),
        (lambda: error_rates(0.1, classes=1), "classes must be at least 2, got 1"),
        (lambda: least_delay(100, 0.5), "below 0.5, got 0.5"),
        (lambda: least_delay(math.inf, 0.1), "must be finite"),
        (lambda: trial_length(0, 0.1), "got 0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(ParameterError, match=said):
        call()
