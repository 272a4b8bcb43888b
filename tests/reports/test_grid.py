import pytest

from learnloop.reports.grid import make_grid
from learnloop.runner.privileges import NOTES


def grid_of(runs):
    return make_grid(runs.load())


def write(runs, method, scores=(1.0, 0.0), *, env="spider", params=None, model="m", **more):
    spec = {
        "environment": env,
        "environment_params": {},
        "method_params": params or {},
        "model": model,
    }
    runs.write(method, list(scores), spec=spec, environment_id=f"{env}-v1", model=model, **more)


def test_a_parameter_that_differs_between_benchmarks_alone_is_not_in_the_name(runs):
    write(runs, "drpg", params={"k": 4})
    write(runs, "drpg", params={"k": 1}, env="hotpotqa")
    assert grid_of(runs).methods == ("drpg",)


def test_a_parameter_that_differs_within_a_configuration_is_in_the_name_everywhere(runs):
    write(runs, "drpg", params={"writer": "rules"})
    write(runs, "drpg", params={"writer": "contrastive"})
    write(runs, "drpg", params={"writer": "rules"}, env="hotpotqa")
    grid = grid_of(runs)
    assert grid.methods == ("drpg (contrastive)", "drpg (rules)")
    assert {method for method, one, _ in grid.cells if one.name == "hotpotqa"} == {"drpg (rules)"}


def test_models_are_rows_and_no_part_of_a_name(runs):
    for model in ("b", "a"):
        write(runs, "zero_shot", model=model)
    grid = grid_of(runs)
    assert (grid.methods, grid.models) == (("zero_shot",), ("a", "b"))
    assert len(grid.configurations) == 2


def test_baselines_come_first_and_those_who_know_the_answers_last(runs):
    for method in ("oracle", "drpg", "self_stream_icl", "few_shot", "zero_shot"):
        write(runs, method)
    grid = grid_of(runs)
    assert grid.methods == ("zero_shot", "few_shot", "self_stream_icl", "drpg", "oracle")
    assert grid.compared == grid.methods[:-1]
    assert grid.references == ("zero_shot", "self_stream_icl")


def test_the_longer_of_two_runs_with_one_seed_counts(runs):
    write(runs, "drpg", [1.0] * 3, seed=1)
    write(runs, "drpg", [1.0] * 2, seed=1)
    write(runs, "drpg", [1.0] * 2, seed=2)
    (cell,) = grid_of(runs).cells.values()
    assert [len(run.steps) for run in cell.runs] == [3, 2]


def test_feedback_is_named_only_where_there_are_several(runs):
    write(runs, "drpg", feedback="binary")
    assert [one.title for one in grid_of(runs).benchmarks] == ["spider-v1"]
    write(runs, "drpg", feedback="comment")
    titles = [one.title for one in grid_of(runs).benchmarks]
    assert titles == ["spider-v1, feedback binary", "spider-v1, feedback comment"]


def test_a_published_edition_is_the_same_benchmark_by_name(runs):
    write(runs, "drpg", env="ds1000_published")
    (one,) = grid_of(runs).benchmarks
    assert (one.environment, one.name) == ("ds1000_published-v1", "ds1000")


def test_what_records_say_of_the_rows_is_kept_once(runs):
    for seed in (1, 2):
        write(runs, "drpg", seed=seed, note="a subset: 80 of the 2,147 published queries")
    (one,) = grid_of(runs).benchmarks
    assert one.notes == ("a subset: 80 of the 2,147 published queries",)


@pytest.mark.parametrize("told", NOTES.values())
def test_what_is_said_of_the_only_method_is_not_said_of_the_rows(runs, told):
    write(runs, "oracle", note=f"a subset: 80 of the 2,147 published queries; {told}")
    (one,) = grid_of(runs).benchmarks
    assert one.notes == ("a subset: 80 of the 2,147 published queries",)
