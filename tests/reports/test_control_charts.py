import pytest

from learnloop.reports.arm_marks import FRAME, Extent, Pens
from learnloop.reports.control_charts import delay_chart, delay_extent, edits_chart, edits_extent
from learnloop.reports.control_limits import LimitCurve, LimitPoint, Limits
from learnloop.reports.control_metrics import METRICS
from learnloop.reports.control_table import make_control_rows
from learnloop.reports.themes import LIGHT, strokes


@pytest.fixture
def rows(control, runs):
    events = {3: (control.CALLED, control.EDITED), 6: (control.CALLED, control.KEPT)}
    control.write(runs, "P", control.steps("..xx.....x", events=events, changes=(2,)))
    control.write(runs, "D", control.steps("..x.......", changes=(2,)))
    return make_control_rows(control.section_of(runs), limits={})


def layers(chart):
    spec = chart.to_dict()
    return [
        layer["data"].get("values") or spec["datasets"][layer["data"]["name"]]
        for layer in spec["layer"]
    ]


def pens(rows):
    labels = tuple(row.arm for row in rows)
    return Pens(strokes(labels, baselines=frozenset()), LIGHT, "P")


def test_every_arm_is_a_point_at_its_changes_and_its_mean(rows):
    limits = Limits(
        curves=(LimitCurve(name="a", points=(LimitPoint(edits=0, value=0.5),), is_main=True),),
        ceiling=0.93,
    )
    metric = METRICS["parity"]
    extent = edits_extent(rows, [limits], metric)
    chart = edits_chart(rows, limits=limits, metric=metric, extent=extent, pens=pens(rows))
    drawn = layers(chart)
    points = {p["arm"]: (p["x"], p["y"], p["name"]) for p in drawn[-1]}
    assert points == {"P": (1.0, 0.7, "P"), "D": (0.0, 0.9, "D")}
    assert drawn[0] == [{"x": 0.0, "y": 0.5}, {"x": extent.x[1], "y": 0.5}]
    assert drawn[1] == [{"y": 0.93}]


def test_delay_stands_over_run_length_with_the_exact_curve_below(rows):
    extent = delay_extent(rows)
    chart = delay_chart(rows, noise=0.1, extent=extent, pens=pens(rows))
    drawn = layers(chart)
    points = {p["arm"]: (p["x"], p["y"]) for p in drawn[-1]}
    assert points == {"P": (7.0, 2.0), "D": (9.0, 1.0)}
    assert [(p["name"], round(p["x"]), round(p["y"], 2)) for p in drawn[1]] == [
        ("1", 10, 1.11),
        ("2", 110, 2.35),
        ("3", 1020, 3.59),
    ]


def test_an_axis_that_is_drawn_together_places_points_as_it_draws_them():
    bent = Extent(x=(0, 100), y=(0, 1), kind="sqrt")
    assert bent.spot("", 25, 0.5).x == FRAME.width / 2
    assert Extent(x=(1, 100), y=(0, 1), kind="log").spot("", 10, 0).x == FRAME.width / 2
