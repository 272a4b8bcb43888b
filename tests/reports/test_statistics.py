import math
import statistics as standard

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from learnloop.errors import ParameterError
from learnloop.reports.statistics import (
    Interval,
    cumulative_mean,
    holm,
    mcnemar,
    paired_interval,
    rolling_mean,
    sign_test,
    signed_ranks,
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


def constructed():
    """Return 42 differences of the sizes 1 to 42 in points; 13 in the lower half are losses."""
    losses = set(range(7, 32, 2))
    return [(-size if size in losses else size) / 100 for size in range(1, 43)]


def test_the_published_29_of_42_give_the_sign_test_another_p_value_than_the_reported_one():
    found = sign_test([1.0] * 29 + [-1.0] * 13)
    by_hand = sum(math.comb(42, wins) for wins in range(29, 43)) / 2**42
    assert (found.wins, found.ties, found.losses) == (29, 0, 13)
    assert found.p_value == pytest.approx(by_hand, rel=1e-12)
    assert round(found.p_value, 4) == 0.0098


def test_wilcoxon_reproduces_the_reported_p_value_on_29_wins_of_42_where_the_sign_test_does_not():
    differences = constructed()
    assert sum(value > 0 for value in differences) == 29
    ranks = signed_ranks(differences)
    assert ranks.statistic == sum(range(1, 43)) - sum(range(7, 32, 2)) == 656
    assert (ranks.used, ranks.zeros) == (42, 0)
    assert ranks.p_value == pytest.approx(exact_rank_p(42, 656), rel=1e-9)
    assert round(ranks.p_value, 3) == 0.005
    assert round(sign_test(differences).p_value, 3) == 0.010


def exact_rank_p(count, statistic):
    """Count the sign patterns whose positive ranks add up to at least the statistic."""
    ways = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return sum(ways[statistic:]) / 2**count


@pytest.mark.parametrize(("wins", "of"), [(29, 42), (35, 42), (18, 21), (5, 7), (3, 7), (4, 6)])
def test_the_sign_test_is_that_of_scipy_on_all_published_counts(wins, of):
    found = sign_test([0.1] * wins + [-0.2] * (of - wins) + [0.0])
    assert found.ties == 1
    assert found.p_value == stats.binomtest(wins, of, alternative="greater").pvalue
    assert found.p_value == pytest.approx(stats.binom.sf(wins - 1, of, 0.5))


@settings(deadline=None, max_examples=25)  # scipy tries every sign where few ranks are tied
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=60))
def test_signed_ranks_are_those_of_scipy_for_each_way_with_zeros(values):
    for zeros in ("wilcox", "pratt", "zsplit"):
        found = signed_ranks(values, zeros=zeros)
        assert found.zeros == values.count(0)
        if found.p_value is None:
            assert not any(values)
            continue
        theirs = stats.wilcoxon(values, zero_method=zeros, alternative="greater")
        assert (found.statistic, found.p_value) == (theirs.statistic, theirs.pvalue)


def test_zero_differences_alone_give_no_rank_test():
    found = signed_ranks([0.0, 0.0])
    assert (found.used, found.zeros, found.p_value) == (0, 2, None)
    assert sign_test([0.0, 0.0]).p_value == 1
