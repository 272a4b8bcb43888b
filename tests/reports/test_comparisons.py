import pytest

from learnloop.reports.comparisons import compare
from learnloop.reports.groups import make_sections


def compare_all(runs):
    (section,) = make_sections(runs.load())
    return compare(section)


def test_only_the_second_half_counts(runs):
    runs.write("zero_shot", [1.0] * 10 + [0.0] * 10)
    runs.write("drpg", [0.0] * 10 + [1.0] * 8 + [0.0] * 2)
    (one,) = compare_all(runs)
    assert (one.accuracy, one.baseline_accuracy) == (0.8, 0.0)
    assert one.gain == pytest.approx(0.8)
    assert (one.discordance.gained, one.discordance.lost) == (8, 0)
    assert one.discordance.p_value == pytest.approx(2 / 2**8)
    assert (one.pairs, one.seeds) == (10, 1)
    assert one.is_significant
    assert one.is_small


def test_equal_methods_are_not_told_apart(runs):
    scores = [0.0, 1.0] * 20
    for seed in range(3):
        runs.write("zero_shot", scores, seed=seed)
        runs.write("drpg", scores[::-1], seed=seed)
    (one,) = compare_all(runs)
    assert one.gain == 0
    assert one.interval.low < 0 < one.interval.high
    assert not one.is_significant


def test_answers_to_other_queries_are_no_pairs(runs, step):
    runs.write("zero_shot", [step(n, 0.0) for n in range(4)])
    runs.write("drpg", [step(n, 1.0, query_id=f"q{n}" if n < 3 else "other") for n in range(4)])
    (one,) = compare_all(runs)
    assert one.pairs == 1


def test_other_seeds_are_no_pairs(runs):
    runs.write("zero_shot", [0.0] * 4, seed=0)
    runs.write("drpg", [1.0] * 4, seed=1)
    assert compare_all(runs) == []


def test_a_repeated_seed_counts_once_with_its_longest_run(runs):
    runs.write("zero_shot", [0.0] * 4)
    runs.write("drpg", [1.0] * 4)
    runs.write("drpg", [1.0] * 3)
    (one,) = compare_all(runs)
    assert one.pairs == 2


def test_partial_scores_have_an_interval_but_no_mcnemar(runs):
    runs.write("zero_shot", [0.2, 0.3] * 20)
    runs.write("drpg", [0.7, 0.9] * 20)
    (one,) = compare_all(runs)
    assert one.discordance is None
    assert one.gain == pytest.approx(0.55)
    assert one.is_significant


def test_p_values_are_adjusted_for_the_number_of_methods(runs):
    runs.write("zero_shot", [0.0] * 16)
    runs.write("self_stream_icl", [0.0] * 8 + [1.0] * 8)
    runs.write("drpg", [0.0] * 8 + [1.0] * 8)
    found = compare_all(runs)
    assert [one.discordance.p_value for one in found] == pytest.approx([2 * 2 / 2**8] * 2)


def test_a_report_made_twice_says_the_same(runs):
    runs.write("zero_shot", [0.0, 1.0, 0.0, 1.0] * 5)
    runs.write("drpg", [1.0, 1.0, 0.0, 1.0] * 5)
    assert compare_all(runs) == compare_all(runs)
