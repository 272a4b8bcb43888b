import pytest

from learnloop.reports.belief_grid import FlippingRule
from learnloop.reports.ceilings import Schedule, filter_curve
from learnloop.reports.control_limits import LimitCurve, LimitPoint, Limits, make_limits
from learnloop.reports.control_sections import (
    ControlRun,
    from_record,
    make_control_sections,
    without_record,
)
from learnloop.reports.control_table import make_control_rows
from learnloop.reports.frontier import accuracy_at


def test_between_two_points_lies_what_a_mixture_reaches():
    points = (LimitPoint(edits=1, value=0.5), LimitPoint(edits=3, value=0.9))
    limits = Limits(curves=(LimitCurve(name="any", points=points, is_main=True),))
    assert [limits.reached_with(edits) for edits in (1, 2, 3, 9)] == pytest.approx(
        [0.5, 0.7, 0.9, 0.9]
    )
    assert limits.reached_with(0.5) is None


def test_a_ceiling_alone_is_the_limit_at_any_number_of_edits():
    assert Limits(ceiling=1.5).reached_with(7) == 1.5


def test_distance_on_parity_is_to_the_curve_of_the_ideal_filter(control, runs):
    control.write(runs, "P", control.steps("....x"))
    (row,) = make_control_rows(control.section_of(runs))
    curve = filter_curve(FlippingRule(eta=0.1), schedule=Schedule())
    assert row.limit == pytest.approx(accuracy_at(curve, 0.0), abs=1e-6)
    assert row.distance == pytest.approx(row.limit - 0.8)


def test_the_ceiling_of_parity_is_the_known_one(control, runs):
    control.write(runs, "P", control.steps("..."))
    (limits,) = make_limits(control.section_of(runs)).values()
    assert limits.ceiling == pytest.approx(0.931, abs=0.001)
    assert [curve.is_main for curve in limits.curves] == [False, True]


def test_a_rule_that_starts_unknown_has_no_limit(control, runs):
    control.write(runs, "P", control.steps("..."))
    run = runs.load()[0]
    spec = run.info.spec | {"environment_params": {"start": "random"}}
    section = control.section_of(runs)
    made = next(iter(section.runs.values()))[0].summary
    changed = {name: getattr(made, name) for name in made.__slots__} | {"spec": spec}
    (other,) = make_control_sections([ControlRun(summary=type(made)(**changed))])
    assert make_limits(other) == {}


def test_the_limit_of_track_is_that_of_held_values_on_the_path_that_was_run(control, runs):
    golds = ["10", "10", "30", "30"]
    control.write(runs, "P", control.steps("..xx", answer="10", golds=golds), task="track")
    (limits,) = make_limits(control.section_of(runs)).values()
    assert limits.reached_with(0) == pytest.approx(10.0)
    assert limits.reached_with(1) == pytest.approx(0.0)


def test_one_path_on_record_is_not_the_limit_of_many_seeds(control, runs):
    for seed in (1, 2):
        made = control.steps("....", answer="10")
        control.write(runs, "P", made, task="track", seed=seed)
    first, second = map(from_record, runs.load())
    (section,) = make_control_sections([first, without_record(second.summary)])
    (limits,) = make_limits(section).values()
    # 1.5 cycles of amplitude 40 about their mean: from the root of 728 to that of 800, by phase
    assert 26.9 < limits.reached_with(0) < 28.3
