import pytest

from learnloop.reports.grid import make_grid
from learnloop.reports.standings import compare_configurations, make_standings


def write(runs, method, scores, *, env="spider", model="m", **more):
    spec = {"environment": env, "environment_params": {}, "method_params": {}, "model": model}
    runs.write(method, scores, spec=spec, environment_id=f"{env}-v1", model=model, **more)


@pytest.fixture
def grid(runs):
    """Return two benchmarks with two models: drpg wins 2, ties 1, loses 1; an oracle is there."""
    scores = {
        ("spider", "a"): ([0, 0, 1, 1], [1, 1, 1, 1]),
        ("spider", "b"): ([0, 0, 0, 1], [0, 0, 1, 1]),
        ("cosql", "a"): ([0, 1, 0, 1], [1, 0, 1, 0]),
        ("cosql", "b"): ([1, 1, 1, 1], [1, 1, 1, 0]),
    }
    for (env, model), (before, after) in scores.items():
        write(runs, "zero_shot", [float(x) for x in before], env=env, model=model)
        write(runs, "drpg", [float(x) for x in after], env=env, model=model)
    write(runs, "oracle", [1.0] * 4, env="spider", model="a")
    return make_grid(runs.load())


def test_wins_ties_and_losses_are_counted_overall_and_by_benchmark(grid):
    (one,) = make_standings(grid)
    assert (one.method, one.other, one.configurations) == ("drpg", "zero_shot", 4)
    assert (one.overall.wins, one.overall.ties, one.overall.losses) == (2, 1, 1)
    assert one.overall.p_value == 0.5  # two or three of three
    by = {name: (t.wins, t.ties, t.losses) for name, t in one.by_benchmark.items()}
    assert by == {"spider-v1": (2, 0, 0), "cosql-v1": (0, 1, 1)}
    assert one.by_benchmark["spider-v1"].p_value == 0.25


def test_wilcoxon_ranks_the_differences_that_are_not_zero(grid):
    (one,) = make_standings(grid)  # +.5, +.25, 0, -.25: ranks 3, 1.5 against 1.5
    assert (one.ranks.statistic, one.ranks.used, one.ranks.zeros) == (4.5, 3, 1)


def test_orders_are_counted_and_not_taken_for_configurations(runs):
    for seed, gain in ((1, 1.0), (2, 1.0), (3, 0.0)):
        write(runs, "zero_shot", [0.0, 0.0], seed=seed)
        write(runs, "drpg", [gain, 0.0], seed=seed)
    (one,) = make_standings(make_grid(runs.load()))
    assert one.configurations == 1
    assert one.several_orders
    assert (one.by_order.wins, one.by_order.ties) == (2, 1)


def test_a_configuration_without_one_of_the_two_is_left_out(runs):
    write(runs, "zero_shot", [0.0, 0.0], model="a")
    write(runs, "drpg", [1.0, 0.0], model="a")
    write(runs, "drpg", [1.0, 0.0], model="b")
    (one,) = make_standings(make_grid(runs.load()))
    assert one.configurations == 1


def test_each_configuration_is_tested_and_adjusted_for_all_of_them(runs):
    for env in ("spider", "cosql"):
        write(runs, "zero_shot", [0.0] * 8 + [1.0] * 2, env=env)
        write(runs, "drpg", [1.0] * 10, env=env)
    tests = compare_configurations(make_grid(runs.load()))
    assert [one.benchmark for one in tests] == ["cosql-v1", "spider-v1"]
    for one in tests:
        assert (one.gain, one.queries, one.orders) == (0.8, 10, 1)
        assert one.discordance.p_value == pytest.approx(2 / 2**8)
        assert one.adjusted == pytest.approx(4 / 2**8)
        assert one.is_significant


def test_a_method_is_tested_against_the_references_before_it_and_no_oracle_is(runs):
    for method in ("zero_shot", "self_stream_icl", "drpg", "oracle"):
        write(runs, method, [0.0, 1.0])
    pairs = [(t.method, t.reference) for t in compare_configurations(make_grid(runs.load()))]
    assert pairs == [
        ("self_stream_icl", "zero_shot"),
        ("drpg", "zero_shot"),
        ("drpg", "self_stream_icl"),
    ]
