"""The charts of a control task: what was reached against edits, and delay against run length."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import altair as alt

from learnloop.reports.arm_marks import Axes, Extent, Pens, arm_marks
from learnloop.reports.charts import Layered, Spec, to_spec
from learnloop.reports.control_limits import LimitCurve, Limits
from learnloop.reports.control_metrics import Metric
from learnloop.reports.control_table import ControlRow
from learnloop.reports.label_places import Spot
from learnloop.reports.run_lengths import mean_run_length, run_lengths
from learnloop.reports.themes import Theme

ROOM = 1.08
PIECES = 16
FAR = 20
"""With more changes of the prompt than this the axis is drawn together towards its end."""


class Point(NamedTuple):
    """A point of a curve."""

    x: float
    y: float


def edits_extent(rows: Sequence[ControlRow], limits: Sequence[Limits], metric: Metric) -> Extent:
    """Return the axes of what was reached against edits, for all levels of noise."""
    there = [row for row in rows if row.mean is not None]
    ends = [(row.mean or 0) + sign * (row.sd or 0) for row in there for sign in (-1, 1)]
    ends += [limit.ceiling for limit in limits if limit.ceiling is not None]
    most = max([4.0, *(row.changes_of_prompt for row in there)])
    if metric.is_share:
        low, high = max(0.0, math.floor(10 * min([0.5, *ends]) - 0.2) / 10), 1.0
    else:
        low, high = 0.0, max([1.0, *ends]) * ROOM
    kind: Literal["linear", "sqrt"] = "sqrt" if most > FAR else "linear"
    return Extent(x=(0.0, most * ROOM), y=(low, high), kind=kind)


def edits_chart(
    rows: Sequence[ControlRow],
    *,
    limits: Limits | None,
    metric: Metric,
    extent: Extent,
    pens: Pens,
) -> Layered:
    """Return one panel: every arm a point with its deviation, under the limits of its noise."""
    there = [row for row in rows if row.mean is not None]
    points = [_edit_point(row, metric, extent) for row in there]
    x = alt.X(
        "x:Q",
        title="changes of the prompt",
        scale=alt.Scale(type=extent.kind, domain=list(extent.x), nice=False),
        axis=alt.Axis(grid=False, tickCount=6, format="d", tickMinStep=1, labelOverlap=True),
    )
    direction = "higher" if metric.higher_is_better else "lower"
    axis = alt.Axis(format="%" if metric.is_share else "~g", tickCount=5, domain=False, ticks=False)
    y = alt.Y(
        "y:Q",
        title=f"{metric.name}, {direction} is better",
        scale=alt.Scale(domain=list(extent.y), nice=False),
        axis=axis,
    )
    axes = Axes(x=x, y=y, extent=extent)
    limits = limits or Limits()
    ways = [_drawn(curve, extent) for curve in limits.curves]
    ways += [[Point(p["x"], p["low"]), Point(p["x"], p["high"])] for p in points]
    if limits.ceiling is not None:
        ways.append([Point(end, limits.ceiling) for end in extent.x])
    avoid = [spot for way in ways for spot in _obstacles(way, extent)]
    return alt.layer(
        *_limit_lines(limits, axes, pens.theme),
        *arm_marks(points, axes=axes, pens=pens, avoid=avoid),
    )


def delay_extent(rows: Sequence[ControlRow]) -> Extent:
    """Return the axes of delay against run length, for all levels of noise."""
    there = [row for row in rows if row.delay is not None and row.noise > 0]
    longest = max([200.0, *(_run_length(row) for row in there)])
    slowest = max([6.0, *(row.delay or 0 for row in there)])
    return Extent(x=(2.0, longest * 2), y=(0.0, slowest * ROOM), kind="log")


def delay_chart(
    rows: Sequence[ControlRow],
    *,
    noise: float,
    extent: Extent,
    pens: Pens,
) -> Layered:
    """Return one panel: every arm a point, over the exact curve of the least delay."""
    there = [row for row in rows if row.delay is not None]
    points = [_delay_point(row) for row in there]
    x = alt.X(
        "x:Q",
        title="right answers to a false alarm",
        scale=alt.Scale(type="log", domain=list(extent.x), nice=False),
        axis=alt.Axis(grid=False, tickCount=4, format="~s", labelOverlap=True),
    )
    y = alt.Y(
        "y:Q",
        title="wrong answers after a flip",
        scale=alt.Scale(domain=list(extent.y), nice=False),
        axis=alt.Axis(tickCount=5, domain=False, ticks=False),
    )
    lattice = _lattice(noise, extent)
    way = _mixed([Point(one["x"], one["y"]) for one in lattice])
    avoid = _obstacles(way, extent)
    base = alt.Chart(alt.InlineData(values=lattice)).encode(x=x, y=y)
    drawn = [{"x": round(point.x, 3), "y": round(point.y, 4)} for point in way]
    line = alt.Chart(alt.InlineData(values=drawn)).encode(x=x, y=y)
    curve = line.mark_line(color=pens.theme.muted, strokeWidth=1.5, clip=True)
    dots = base.mark_point(color=pens.theme.muted, filled=True, size=18, opacity=1, clip=True)
    names = base.mark_text(color=pens.theme.muted, fontSize=10, dy=11, clip=True).encode(
        text="name:N"
    )
    marks = arm_marks(points, axes=Axes(x=x, y=y, extent=extent), pens=pens, avoid=avoid)
    return alt.layer(curve, dots, names, *marks)


def panel(chart: Layered, *, theme: Theme) -> Spec:
    """Return a panel as a spec that fills its place on the page."""
    return to_spec(chart, theme=theme, width="container", height=340)


def _edit_point(row: ControlRow, metric: Metric, extent: Extent) -> dict[str, Any]:
    mean, sd = row.mean or 0.0, row.sd or 0.0
    deviation = "" if row.sd is None else f" ± {metric.show(row.sd)}"
    return {
        "arm": row.arm,
        "x": round(row.changes_of_prompt, 3),
        "y": round(mean, 5),
        "low": round(max(extent.y[0], mean - sd), 5),
        "high": round(min(extent.y[1], mean + sd), 5),
        "reached": f"{metric.show(mean)}{deviation}{metric.unit and ' ' + metric.unit}",
        "price": f"{row.changes_of_prompt:.1f} changes, {row.calls:.1f} calls",
        "seeds": len(row.seeds),
        "merit": metric.better(mean, 0.0),
    }


def _delay_point(row: ControlRow) -> dict[str, Any]:
    length = _run_length(row)
    least = row.run_length is None
    return {
        "arm": row.arm,
        "x": round(length, 2),
        "y": round(row.delay or 0.0, 3),
        "reached": f"{row.delay:.2f} after a flip",
        "price": f"{'more than ' if least else ''}{length:.0f} right answers to a false alarm",
        "seeds": len(row.seeds),
        "merit": -(row.delay or 0.0),
    }


def _run_length(row: ControlRow) -> float:
    """Return the run length, or, without a false alarm, the steps in which there was none."""
    return max(2.0, row.run_length if row.run_length is not None else row.right_steps)


def _lattice(noise: float, extent: Extent) -> list[dict[str, Any]]:
    most = 1
    while mean_run_length(most, noise) < extent.x[1] and most < 60:
        most += 1
    points = run_lengths(noise, thresholds=range(1, most + 1))
    return [
        {"x": round(p.false_alarm, 2), "y": round(p.delay, 3), "name": str(p.threshold)}
        for p in points
    ]


def _limit_lines(limits: Limits, axes: Axes, theme: Theme) -> list[alt.Chart]:
    """Return the limits: the main curve solid, others dotted, the ceiling a dashed rule."""
    lines = []
    for curve in limits.curves:
        rows = [{"x": point.x, "y": point.y} for point in _drawn(curve, axes.extent)]
        line = alt.Chart(alt.InlineData(values=rows)).mark_line(
            color=theme.ink if curve.is_main else theme.muted,
            strokeWidth=1.6 if curve.is_main else 1.4,
            strokeDash=[1, 0] if curve.is_main else [1.5, 3],
            clip=True,
        )
        lines.append(line.encode(x=axes.x, y=axes.y))
    if limits.ceiling is not None:
        rule = alt.Chart(alt.InlineData(values=[{"y": limits.ceiling}]))
        dashed = rule.mark_rule(color=theme.muted, strokeDash=[6, 4])
        lines.append(dashed.encode(y=axes.y))
    return lines


def _drawn(curve: LimitCurve, extent: Extent) -> list[Point]:
    """Return the points of a curve, its last value kept to the right end."""
    points = [Point(point.edits, point.value) for point in curve.points]
    if points[-1].x < extent.x[1]:
        points.append(Point(extent.x[1], points[-1].y))
    return points if extent.kind == "linear" else _mixed(points)


def _mixed(points: Sequence[Point]) -> list[Point]:
    """Return the way from point to point by mixing the two, straight only on a linear axis."""
    way = list(points[:1])
    for one, other in itertools.pairwise(points):
        shares = [piece / PIECES for piece in range(1, PIECES + 1)]
        way += [
            Point(one.x + share * (other.x - one.x), one.y + share * (other.y - one.y))
            for share in shares
        ]
    return way


def _obstacles(points: Sequence[Point], extent: Extent) -> list[Spot]:
    """Return spots along a line, close enough for no name to slip between."""
    spots = [extent.spot("", point.x, point.y) for point in points]
    dense: list[Spot] = []
    for one, other in itertools.pairwise(spots):
        pieces = max(1, round(math.hypot(other.x - one.x, other.y - one.y) / 7))
        shares = [piece / pieces for piece in range(pieces + 1)]
        dense += [
            Spot(name="", x=one.x + s * (other.x - one.x), y=one.y + s * (other.y - one.y))
            for s in shares
        ]
    return dense
