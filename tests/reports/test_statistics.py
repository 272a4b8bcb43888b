import math
import statistics as standard

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.reports.statistics import (
    Interval,
    cumulative_mean,
    holm,
    mcnemar,
    paired_interval,
    rolling_mean,
    spread,
)

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(SHARES)
def test_spread_agrees_with_the_standard_library(values):
    found = spread(values)
    assert found.mean == pytest.approx(standard.fmean(values))
    assert found.sd == pytest.approx(standard.stdev(values), abs=1e-9)


def test_one_value_has_no_spread():
    assert spread([0.4]).sd is None


def test_no_values_are_refused():
    with pytest.raises(ParameterError, match="must not be empty"):
        spread([])


def test_rolling_mean_by_hand():
    assert rolling_mean([1, 0, 0, 1, 1], 3) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 3, 2 / 3])


@given(SHARES, st.integers(1, 50))
def test_a_rolling_mean_is_the_mean_of_its_slice(values, window):
    for end, found in enumerate(rolling_mean(values, window), start=1):
        assert found == pytest.approx(standard.fmean(values[max(0, end - window) : end]))


@given(SHARES)
def test_cumulative_mean_ends_at_the_mean(values):
    assert cumulative_mean(values)[-1] == pytest.approx(standard.fmean(values))


def test_rolling_mean_refuses_a_window_that_never_fills():
    with pytest.raises(ParameterError, match="got 4"):
        rolling_mean([1.0], 3, least=4)


def test_a_bootstrap_interval_is_near_the_normal_one_for_many_pairs():
    differences = [1.0] * 500 + [0.0] * 400 + [-1.0] * 100
    found = paired_interval(differences, rng=np.random.default_rng(1))
    margin = 1.959964 * standard.stdev(differences) / math.sqrt(1000)
    assert found.low == pytest.approx(0.4 - margin, abs=0.005)
    assert found.high == pytest.approx(0.4 + margin, abs=0.005)


def test_a_bootstrap_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(60):
        found = paired_interval(rng.normal(0.2, 1.0, size=80), rng=rng)
        hits += found.low <= 0.2 <= found.high
    assert hits >= 51  # 57 are expected; fewer than 51 happen once in about 100 seeds


def test_equal_differences_leave_a_point():
    assert paired_interval([1.0, 1.0], rng=np.random.default_rng(0)) == Interval(low=1, high=1)


def test_one_pair_has_no_interval():
    assert paired_interval([1.0], rng=np.random.default_rng(0)) is None


def test_the_same_generator_gives_the_same_interval():
    ends = [paired_interval([1, 0, 0, -1], rng=np.random.default_rng(5)) for _ in range(2)]
    assert ends[0] == ends[1]


def test_exact_mcnemar_by_hand():
    before = [False] * 6 + [True] + [True] * 3
    after = [True] * 6 + [False] + [True] * 3
    found = mcnemar(before, after)
    assert (found.gained, found.lost) == (6, 1)
    assert found.p_value == pytest.approx(2 * (1 + 7) / 2**7)


def test_mcnemar_without_a_difference_is_one():
    assert mcnemar([True, False], [True, False]).p_value == 1


def test_holm_by_hand():
    assert holm([0.01, 0.2, 0.015, 0.6]) == pytest.approx([0.04, 0.4, 0.045, 0.6])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(values):
    adjusted = holm(values)
    assert all(a >= v for a, v in zip(adjusted, values, strict=True))
    ranked = sorted(range(len(values)), key=lambda place: values[place])
    assert [adjusted[i] for i in ranked] == sorted(adjusted)
