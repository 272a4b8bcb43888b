import pytest

from learnloop.reports.grid import make_grid
from learnloop.reports.main_table import make_main_table
from learnloop.reports.rows_apart import find_rows_apart, mean_beside


def scores_of(runs):
    (block,) = make_main_table(make_grid(runs.load()))
    return {line.method: next(iter(line.scores.values())) for line in block.lines}


def test_means_and_deviations_are_over_orders(runs):
    runs.write("drpg", [1.0, 1.0, 1.0, 0.0], seed=1)
    runs.write("drpg", [1.0, 0.0, 0.0, 0.0], seed=2)
    one = scores_of(runs)["drpg"]
    assert (one.mean, one.orders, one.steps) == (0.5, 2, (4, 4))
    assert one.sd == pytest.approx(0.5 / 2**0.5)


def test_the_best_is_marked_but_no_method_that_has_the_answers(runs):
    runs.write("zero_shot", [0.0, 0.0])
    runs.write("self_stream_icl", [1.0, 0.0])
    runs.write("drpg", [0.0, 1.0])
    runs.write("oracle", [1.0, 1.0])
    best = {method for method, one in scores_of(runs).items() if one.is_best}
    assert best == {"self_stream_icl", "drpg"}


def test_nothing_is_best_where_all_are_level(runs):
    runs.write("zero_shot", [0.0])
    runs.write("drpg", [0.0])
    assert not any(one.is_best for one in scores_of(runs).values())


def test_what_cannot_be_compared_as_it_stands_is_said(runs, step):
    runs.write("zero_shot", [0.0] * 4, seed=1)
    runs.write("zero_shot", [0.0] * 4, seed=2)
    runs.write("drpg", [step(0, 0.0, failed="no answer"), step(1, 1.0)], seed=1, complete=False)
    assert scores_of(runs)["drpg"].notes == (
        "seed 1 incomplete: 2 steps so far",
        "1 order, others have 2",
        "1 failed step, counted as wrong",
    )


def test_f1_stands_beside_exact_match_and_a_failed_step_has_none_of_it(runs, step):
    steps = [step(0, 1.0, tags=("f1=1.00",)), step(1, 0.0, tags=("f1=0.50",)), step(2, 0.0)]
    runs.write("drpg", steps)
    assert scores_of(runs)["drpg"].beside == (("f1", 0.5),)
    assert mean_beside([step(0, 1.0, tags=("hard",))], "f1") is None


def test_accuracy_is_told_with_and_without_rows_whose_gold_is_empty(runs, step):
    empty = ("empty gold",)
    runs.write("drpg", [step(0, 1.0, tags=empty), step(1, 1.0, tags=empty), step(2, 0.0)])
    runs.write("zero_shot", [0.0, 1.0])
    (one,) = find_rows_apart(make_grid(runs.load()))
    assert (one.method, one.steps, one.tagged) == ("drpg", 3, 2)
    assert (one.accuracy, one.on_tagged, one.without) == (pytest.approx(2 / 3), 1.0, 0.0)
