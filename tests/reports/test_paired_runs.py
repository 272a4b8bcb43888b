import numpy as np
import pytest
from scipy import stats

from learnloop.reports.grid import make_grid
from learnloop.reports.paired_runs import (
    bootstrap_ratios,
    pair_runs,
    query_discordance,
    query_interval,
)


def paired(runs):
    cells = {method: cell for (method, _, _), cell in make_grid(runs.load()).cells.items()}
    return pair_runs(cells["drpg"], cells["zero_shot"])


def test_only_the_same_query_at_the_same_step_of_the_same_order_is_a_pair(runs, step):
    runs.write("zero_shot", [0.0, 0.0, 0.0], seed=1)
    runs.write("drpg", [step(0, 1.0), step(1, 1.0, query_id="other"), step(2, 0.0)], seed=1)
    runs.write("drpg", [1.0, 1.0], seed=2)
    found = paired(runs)
    assert [pair.ours.query_id for pair in found.pairs] == ["q0", "q2"]
    assert (found.accuracy, found.other_accuracy, found.gain) == (0.5, 0.0, 0.5)


def test_methods_that_share_no_query_are_no_pair(runs, step):
    runs.write("zero_shot", [0.0])
    runs.write("drpg", [step(0, 1.0, query_id="other")])
    assert paired(runs) is None


def test_a_query_of_several_orders_counts_once_by_its_mean(runs, step):
    for seed, (before, after) in enumerate([("000", "110"), ("001", "100")]):
        runs.write("zero_shot", [float(one) for one in before], seed=seed)
        runs.write("drpg", [float(one) for one in after], seed=seed)
    found = paired(runs)  # q0: +1 +1; q1: +1 0; q2: 0 -1
    assert found.by_order == (pytest.approx(2 / 3), 0.0)
    result = query_discordance(found)
    assert (result.gained, result.lost, result.p_value) == (2, 1, 1.0)


def test_mcnemar_of_one_order_is_the_exact_binomial_test(runs):
    runs.write("zero_shot", [0.0] * 9 + [1.0] + [1.0] * 5)
    runs.write("drpg", [1.0] * 9 + [0.0] + [1.0] * 5)
    result = query_discordance(paired(runs))
    assert (result.gained, result.lost) == (9, 1)
    assert result.p_value == pytest.approx(2 * (1 + 10) / 2**10)


def test_scores_between_0_and_1_have_an_interval_and_no_mcnemar_test(runs):
    runs.write("zero_shot", [0.0, 0.5, 0.0])
    runs.write("drpg", [1.0, 0.5, 0.25])
    found = paired(runs)
    assert query_discordance(found) is None
    interval = query_interval(found)
    assert 0.0 <= interval.low <= found.gain <= interval.high <= 1.0
    assert interval == query_interval(found)


def test_the_interval_is_that_of_the_bootstrap_of_scipy(runs):
    rng = np.random.default_rng(5)
    before, after = (rng.integers(0, 2, 150).astype(float).tolist() for _ in range(2))
    runs.write("zero_shot", before)
    runs.write("drpg", after)
    ours = query_interval(paired(runs))
    theirs = stats.bootstrap(
        (np.subtract(after, before),), np.mean, method="percentile", rng=rng
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_resampling_clusters_keeps_their_sums_and_counts_together():
    drawn = bootstrap_ratios([2.0, 0.0], [2, 1], rng=np.random.default_rng(0))
    assert set(np.round(drawn, 6)) == {0.0, 1.0, round(2 / 3, 6)}
    shares = [np.mean(drawn == value) for value in (0.0, 1.0)]
    assert shares == pytest.approx([0.25, 0.25], abs=0.02)
    assert bootstrap_ratios([1.0], [1], rng=np.random.default_rng(0)) is None
