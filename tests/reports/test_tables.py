import statistics

import pytest

from learnloop.records.schema import CallRecord
from learnloop.reports.groups import make_sections
from learnloop.reports.tables import make_table


def rows_of(runs):
    return make_table(make_sections(runs.load()))


def test_a_row_by_hand(runs, step):
    failed = CallRecord(role="answer", model="local", tokens_in=0, tokens_out=0, error="timed out")
    runs.write(
        "drpg",
        [0.0, 0.0, 1.0, step(3, 0.0, failed="ModelTimeoutError: late", calls=(failed, failed))],
        seed=0,
    )
    runs.write("drpg", [0.0, 1.0, 1.0, 1.0], seed=1)
    (row,) = rows_of(runs)
    assert (row.method, row.feedback, row.runs, row.seeds, row.steps) == (
        "drpg",
        "comment",
        2,
        (0, 1),
        4,
    )
    assert row.accuracy == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert row.accuracy_sd == pytest.approx(statistics.stdev([1 / 4, 3 / 4]))
    assert row.second_half == pytest.approx((1 / 2 + 1) / 2)
    assert row.calls == pytest.approx((5 + 4) / 2)
    assert row.calls_per_query == pytest.approx(9 / 8)
    assert row.tokens_in == pytest.approx((300 + 400) / 2)
    assert row.tokens_cached == pytest.approx((5 * 40 + 4 * 40) / 2)
    assert row.tokens_read == pytest.approx(row.tokens_in - row.tokens_cached)
    assert row.tokens_out == pytest.approx((30 + 40) / 2)
    assert (row.seconds, row.seconds_per_step) == (8.0, 2.0)
    assert row.failed == 1
    assert row.notes == ()


def test_one_seed_has_no_standard_deviation(runs):
    runs.write("drpg", [1.0, 0.0])
    assert rows_of(runs)[0].accuracy_sd is None


def test_an_incomplete_run_is_marked_with_its_seed_and_why(runs):
    runs.write("drpg", [1.0] * 6, steps=6, seed=0)
    runs.write("drpg", [1.0] * 4, steps=6, seed=1, complete=False, stopped="20 calls spent")
    runs.write("drpg", [1.0] * 2, steps=6, seed=2, complete=False)
    (row,) = rows_of(runs)
    assert row.notes == ("incomplete (seed 1: 4 of 6 steps, 20 calls spent; seed 2: 2 of 6 steps)",)


def test_a_stream_that_ends_before_the_steps_asked_for_is_complete(runs):
    runs.write("drpg", [1.0] * 4, steps=100)
    assert rows_of(runs)[0].notes == ()


def test_unequal_lengths_are_marked(runs):
    runs.write("zero_shot", [0.0] * 6)
    runs.write("drpg", [1.0] * 3)
    notes = {row.method: row.notes for row in rows_of(runs)}
    assert notes["zero_shot"] == ()
    assert notes["drpg"] == ("shorter than the longest run of 6 steps (seed 0: 3)",)


def test_a_repeated_seed_is_marked(runs):
    runs.write("drpg", [1.0])
    runs.write("drpg", [1.0])
    assert rows_of(runs)[0].notes == ("1 run repeated under the same seed",)


def test_a_run_without_steps_is_a_row_without_accuracy(runs):
    runs.write("drpg", [], steps=10)
    (row,) = rows_of(runs)
    assert (row.accuracy, row.second_half, row.calls_per_query) == (None, None, None)


def test_the_second_half_of_a_short_run_is_that_of_its_stream(runs):
    runs.write("zero_shot", [0.0, 0.0, 1.0, 1.0])
    runs.write("drpg", [1.0, 1.0, 0.0])
    late = {row.method: row.second_half for row in rows_of(runs)}
    assert late == {"zero_shot": 1.0, "drpg": 0.0}


def test_a_cost_is_the_mean_of_a_run_and_unknown_where_one_call_is(runs, step):
    def call(cost):
        return CallRecord(role="answer", model="openai/x", tokens_in=1, tokens_out=1, cost=cost)

    for seed, cost in ((0, 0.25), (1, 0.75)):
        runs.write("zero_shot", [step(0, 0.0, calls=(call(cost),))], seed=seed)
    runs.write("drpg", [step(0, 0.0, calls=(call(0.5), call(None)))])
    costs = {row.method: row.cost for row in rows_of(runs)}
    assert costs == {"zero_shot": 0.5, "drpg": None}
