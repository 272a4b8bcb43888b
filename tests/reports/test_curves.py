import pytest

from learnloop.reports.curves import cumulative_curves, rolling_curves
from learnloop.reports.groups import make_sections


def section_of(runs):
    (section,) = make_sections(runs.load())
    return section


def test_a_point_is_the_mean_over_seeds_with_one_sd_each_way(runs):
    runs.write("drpg", [0.0, 1.0], seed=0)
    runs.write("drpg", [1.0, 1.0], seed=1)
    last = cumulative_curves(section_of(runs), "comment")[-1]
    sd = (2 * 0.25**2) ** 0.5
    assert (last.step, last.mean, last.seeds) == (2, pytest.approx(0.75), 2)
    assert (last.low, last.high) == (pytest.approx(0.75 - sd), pytest.approx(1.0))


def test_one_seed_has_no_band(runs):
    runs.write("drpg", [0.0, 1.0])
    assert all(p.low == p.mean == p.high for p in cumulative_curves(section_of(runs), "comment"))


def test_where_a_run_ends_the_mean_goes_on_over_the_others(runs):
    runs.write("drpg", [1.0, 1.0, 1.0], seed=0)
    runs.write("drpg", [0.0], seed=1)
    points = cumulative_curves(section_of(runs), "comment")
    assert [(p.step, p.seeds, p.mean) for p in points] == [(1, 2, 0.5), (2, 1, 1.0), (3, 1, 1.0)]


def test_a_rolling_curve_starts_once_five_steps_are_there(runs):
    runs.write("drpg", [0.0] * 5 + [1.0] * 5)
    points = rolling_curves(section_of(runs), "comment", window=10)
    assert points[0].step == 5
    assert points[-1].mean == 0.5


def test_a_long_stream_is_thinned_and_keeps_its_end(runs):
    runs.write("drpg", [1.0, 0.0] * 500)
    points = cumulative_curves(section_of(runs), "comment")
    assert len(points) <= 251
    assert points[-1].step == 1000


def test_only_the_feedback_mode_asked_for_is_drawn(runs):
    runs.write("drpg", [1.0], feedback="binary")
    runs.write("zero_shot", [1.0], feedback="comment")
    assert {p.label for p in cumulative_curves(section_of(runs), "binary")} == {"drpg"}
