import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.e_detector import EDetectorGate

TOLERATED = 0.3


def wrong_or_right(rng, _last):
    return float(rng.random() < TOLERATED)


def graded(rng, _last):
    return rng.beta(0.6, 1.4)  # mean 0.6 / 2


def in_bursts(rng, last):
    """Small errors in calm times, all or nothing after a large one; the mean is the same."""
    size = 1.0 if last > 0.5 else 0.6
    return size if rng.random() < TOLERATED / size else 0.0


@pytest.mark.parametrize("draw", [wrong_or_right, graded, in_bursts])
@pytest.mark.parametrize("gamma", [10, 30])
def test_the_run_to_a_false_alarm_is_at_least_gamma_whatever_the_distribution(draw, gamma):
    rng = np.random.default_rng(8)
    lengths = np.array([run_length(gamma, draw, rng) for _ in range(300)])
    assert lengths.mean() - 4 * lengths.std(ddof=1) / math.sqrt(len(lengths)) >= gamma


def run_length(gamma, draw, rng):
    gate, error, length = EDetectorGate(tolerated=TOLERATED, gamma=gamma), 0.0, 0
    while True:
        error = draw(rng, error)
        length += 1
        if gate.decide(error).opened:
            return length


@given(errors=st.lists(st.floats(0, 1), max_size=60))
def test_it_bets_as_defined(errors):
    gate, stake = EDetectorGate(tolerated=0.3, bet=1.4, gamma=10), 0.0
    for error in errors:
        stake = max(stake, 1.0) * (1 + 1.4 * (error - 0.3))
        decision = gate.decide(error)
        assert math.exp(decision.signal) == pytest.approx(stake)
        if abs(stake - 10) > 1e-6:
            assert decision.opened == (stake >= 10)


def test_four_errors_in_a_row_open_it_since_1_98_to_the_fourth_is_above_ten():
    gate = EDetectorGate()
    assert [gate.decide(1.0).opened for _ in range(4)] == [False, False, False, True]
    assert 1.98**3 < 10 < 1.98**4


def test_the_change_point_is_the_call_after_the_stake_was_last_at_one_or_below():
    gate = EDetectorGate()
    points = [gate.decide(error).change_point for error in (0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0)]
    # stakes: .58, 1.98, 1.15, 2.27, 1.32, .77, 1.98
    assert points == [None, 1, 1, 1, 1, None, 6]
