"""Draws the arms of a study as points, each with its deviation and its name beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import altair as alt

from learnloop.reports.label_places import Frame, Spot, place_names
from learnloop.reports.themes import DASHES, Stroke, Theme

FRAME = Frame(width=256, height=280)
"""The least size of a panel's plot; names are placed for it and stay right where it is larger."""
CROWD, NAMED_IN_CROWD = 10, 7
"""Of more arms than the first only so many are named in a panel; the others have a tooltip."""
SHAPES = ("circle", "square", "diamond", "triangle-up")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """From where to where the axes of a row of panels go, the same in each."""

    x: tuple[float, float]
    y: tuple[float, float]
    kind: Literal["linear", "sqrt", "log"] = "linear"

    def spot(self, name: str, x: float, y: float) -> Spot:
        """Return where a point falls in a panel of the least size."""
        bend = {"linear": float, "sqrt": math.sqrt, "log": math.log}[self.kind]
        low, high, at = (bend(end) for end in (*self.x, x))
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        along = (at - low) / (high - low)
        return Spot(name=name, x=along * FRAME.width, y=(1 - up) * FRAME.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The two axes of a panel."""

    x: alt.X
    y: alt.Y
    extent: Extent


class Pens(NamedTuple):
    """With what arms are drawn, and which of them leads."""

    strokes: Sequence[Stroke]
    theme: Theme
    lead: str | None = None


def shape_of(stroke: Stroke) -> str:
    """Return the shape of an arm's points; it changes where the colours come round again."""
    return SHAPES[DASHES.index(stroke.dash)] if stroke.dash in DASHES else SHAPES[0]


def arm_marks(
    points: Sequence[Row], *, axes: Axes, pens: Pens, avoid: Sequence[Spot]
) -> list[alt.Chart]:
    """Return the layers of all arms: deviations, lines to names, points, names.

    A point has the fields `arm`, `x`, `y`, `merit`, what its tooltip says, and where there is a
    deviation `low` and `high`. Of many points the leading one and those of most merit are named.
    """
    present = {point["arm"] for point in points}
    drawn = Pens([stroke for stroke in pens.strokes if stroke.label in present], pens.theme)
    rows = _with_names(points, _notable(points, pens.lead), axes.extent, avoid)
    colour = _scale("color", drawn, [stroke.colour(drawn.theme) for stroke in drawn.strokes])
    shape = _scale("shape", drawn, [shape_of(stroke) for stroke in drawn.strokes])
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=axes.x, y=axes.y, color=colour)
    named = base.transform_filter("datum.name !== ''")
    dots = base.mark_point(size=90, opacity=1, filled=True).encode(shape=shape, tooltip=_TOOLTIP)
    edges, names = _names(named, pens.theme)
    return [*_deviations(base, rows, axes), edges, _leaders(named), dots, names]


def _notable(points: Sequence[Row], lead: str | None) -> Sequence[Row]:
    """Return the points to name: all, or the leading one and those that no other one outdoes."""
    if len(points) <= CROWD:
        return points

    def rank(point: Row) -> tuple[bool, bool, float]:
        outdone = any(p["merit"] >= point["merit"] and p["x"] < point["x"] for p in points)
        return (point["arm"] != lead, outdone, -point["merit"])

    return sorted(points, key=rank)[:NAMED_IN_CROWD]


def _with_names(
    points: Sequence[Row], named: Sequence[Row], extent: Extent, avoid: Sequence[Spot]
) -> list[Row]:
    """Give each point its name and a place for it, or an empty name."""
    spots = [extent.spot(point["arm"], point["x"], point["y"]) for point in named]
    others = [extent.spot("", p["x"], p["y"]) for p in points if p not in named]
    places = place_names(spots, frame=FRAME, avoid=[*avoid, *others])
    by_arm = {point["arm"]: place for point, place in zip(named, places, strict=True)}
    rows = []
    for point in points:
        place = by_arm.get(point["arm"])
        extra: Row = {"name": ""}
        if place:
            led = 0.82 if place.is_led else 0.0
            extra = {
                "name": point["arm"],
                "dx": place.dx,
                "dy": place.dy,
                "align": place.align,
                "leadx": round(led * place.dx, 1),
                "leady": round(led * place.dy, 1),
            }
        rows.append({**point, **extra})
    return rows


def _scale(channel: str, pens: Pens, values: list[str]) -> Any:
    kind = alt.Color if channel == "color" else alt.Shape
    domain = [stroke.label for stroke in pens.strokes]
    return kind("arm:N", scale=alt.Scale(domain=domain, range=values), legend=None)


def _deviations(base: alt.Chart, rows: Sequence[Row], axes: Axes) -> list[alt.Chart]:
    if not any("low" in row for row in rows):
        return []
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.45)
    low = axes.y.copy()
    low.shorthand = "low:Q"
    return [bars.encode(y=low, y2="high:Q")]


def _leaders(base: alt.Chart) -> alt.Chart:
    rules = base.mark_rule(
        strokeWidth=0.8,
        opacity=0.7,
        x2Offset=alt.ExprRef("datum.leadx"),
        y2Offset=alt.ExprRef("datum.leady"),
    )
    leaders: alt.Chart = rules.encode(x2="x:Q", y2="y:Q")
    return leaders


def _names(base: alt.Chart, theme: Theme) -> tuple[alt.Chart, alt.Chart]:
    """Return an edge of paper for the names, so that no line runs through them, and the names."""
    look: dict[str, Any] = {
        "fontSize": 11.5,
        "fontWeight": 600,
        "baseline": "middle",
        "dx": alt.ExprRef("datum.dx"),
        "dy": alt.ExprRef("datum.dy"),
        "align": alt.ExprRef("datum.align"),
    }
    edge = base.mark_text(stroke=theme.paper, strokeWidth=4, strokeJoin="round", **look)
    paper = edge.encode(text="name:N", color=alt.value(theme.paper))
    return paper, base.mark_text(**look).encode(text="name:N")


_TOOLTIP = [
    alt.Tooltip("arm:N", title="arm"),
    alt.Tooltip("reached:N", title="reached"),
    alt.Tooltip("price:N", title="with"),
    alt.Tooltip("seeds:Q", title="seeds"),
]
