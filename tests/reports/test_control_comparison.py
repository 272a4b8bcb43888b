import math

import pytest

from learnloop.reports.control_comparison import beaten_everywhere, choose_arm, compare_arms
from learnloop.reports.control_table import make_control_rows


def test_differences_are_paired_by_common_seed(control, runs):
    for seed, (ours, theirs) in enumerate([("....", "...x"), ("...x", "...x"), ("..xx", "...x")]):
        control.write(runs, "Mine (ours)", control.steps(ours), seed=seed)
        control.write(runs, "P", control.steps(theirs), seed=seed)
    control.write(runs, "P", control.steps("xxxx"), seed=9)
    (result,) = compare_arms(control.section_of(runs), "Mine (ours)")
    assert (result.seeds, result.wins, result.ties, result.losses) == (3, 1, 1, 1)
    assert result.difference == 0.0
    margin = 4.302653 * 0.25 / math.sqrt(3)  # t(2) at 97.5 %; gains are .25, 0, -.25
    assert result.interval.low == pytest.approx(-margin, rel=1e-5)
    assert result.interval.high == pytest.approx(margin, rel=1e-5)
    assert result.verdict == "no: the same"


@pytest.mark.parametrize(
    ("ours", "our_calls", "theirs", "their_calls", "verdict"),
    [
        ("....", 1, "..xx", 2, "yes"),
        ("....", 2, "..xx", 2, "yes"),
        ("....", 2, "..xx", 1, "no: more calls"),
        ("..xx", 1, "....", 2, "no: worse"),
        ("..xx", 2, "..xx", 1, "no: the same, more calls"),
    ],
)
def test_better_at_no_more_calls_is_said_plainly(
    control, runs, ours, our_calls, theirs, their_calls, verdict
):
    for seed in (1, 2, 3):
        calls = dict.fromkeys(range(our_calls), (control.CALLED, control.KEPT))
        control.write(runs, "Mine (ours)", control.steps(ours, events=calls), seed=seed)
        calls = dict.fromkeys(range(their_calls), (control.CALLED, control.KEPT))
        control.write(runs, "P", control.steps(theirs, events=calls), seed=seed)
    (result,) = compare_arms(control.section_of(runs), "Mine (ours)")
    assert result.verdict == verdict
    assert result.calls == our_calls - their_calls
    assert result.is_better == verdict.startswith("yes")


def test_a_difference_that_may_be_chance_is_called_so(control, runs):
    for seed, theirs in enumerate(["x...", "xxxx", "...."]):
        control.write(runs, "Mine (ours)", control.steps("...."), seed=seed)
        control.write(runs, "P", control.steps(theirs), seed=seed)
    (result,) = compare_arms(control.section_of(runs), "Mine (ours)")
    assert result.verdict == "yes, may be chance"


def test_two_seeds_that_agree_may_do_so_by_chance(control, runs):
    for seed in (1, 2):
        control.write(runs, "Mine (ours)", control.steps("...."), seed=seed)
        control.write(runs, "P", control.steps("...x"), seed=seed)
    (result,) = compare_arms(control.section_of(runs), "Mine (ours)")
    assert (result.interval.low, result.interval.high) == (0.25, 0.25)
    assert result.verdict == "yes, may be chance"


def test_less_distance_is_better(control, runs):
    control.write(runs, "Mine (ours)", control.steps("x", answer="50", golds=["51"]), task="guess")
    control.write(runs, "P", control.steps("x", answer="50", golds=["60"]), task="guess")
    (result,) = compare_arms(control.section_of(runs), "Mine (ours)")
    assert (result.difference, result.wins, result.interval) == (9.0, 1, None)


def test_ours_is_compared_even_where_another_is_best(control, runs):
    control.write(runs, "Mine (ours)", control.steps("...x"))
    control.write(runs, "P", control.steps("...."))
    section = control.section_of(runs)
    assert choose_arm(section, make_control_rows(section, limits={})) == "Mine (ours)"


def test_without_an_arm_of_ours_the_best_is_compared(control, runs):
    control.write(runs, "D", control.steps("...x"))
    control.write(runs, "P", control.steps("...."))
    section = control.section_of(runs)
    assert choose_arm(section, make_control_rows(section, limits={})) == "P"


def test_beaten_everywhere_means_at_every_level(control, runs):
    for noise, theirs in ((0, "..xx"), (0.1, "....")):
        control.write(runs, "Mine (ours)", control.steps("...x"), noise=noise)
        control.write(runs, "P", control.steps(theirs), noise=noise)
        control.write(runs, "D", control.steps("xxxx"), noise=noise)
    assert beaten_everywhere(compare_arms(control.section_of(runs), "Mine (ours)")) == ["D"]
