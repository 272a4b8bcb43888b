"""Charts as Vega-Lite specs and as PNG: learning curves, and gains over the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import vl_convert

from learnloop.reports.comparisons import Comparison
from learnloop.reports.curves import CurvePoint
from learnloop.reports.themes import FONT, Stroke, Theme

Spec = dict[str, Any]
Layered = alt.LayerChart | alt.FacetChart
ROOM = 0.06


def curve_chart(
    points: Sequence[CurvePoint], *, strokes: Sequence[Stroke], theme: Theme, length: int
) -> Layered:
    """Return the learning curves of one feedback mode: bands, lines, names at the line ends."""
    present = [stroke for stroke in strokes if any(p.label == stroke.label for p in points)]
    rows = [
        {"method": p.label, "step": p.step, "mean": p.mean, "low": p.low, "high": p.high}
        for p in points
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=_step_axis(length), color=_colours(present, theme)
    )
    band = base.mark_area(opacity=0.13).encode(y=_accuracy_axis("low"), y2=alt.Y2("high"))
    line = base.mark_line(strokeWidth=2.5, strokeCap="round").encode(
        y=_accuracy_axis("mean"), strokeDash=_dashes(present)
    )
    return alt.layer(
        _half_rule(length, theme),
        band,
        line,
        _end_labels(points, present, theme),
        _reading_rule(points, present, theme),
    )


def gain_chart(
    comparisons: Sequence[Comparison], *, strokes: Sequence[Stroke], theme: Theme
) -> Layered:
    """Return the gains over the baseline with their intervals, one line a method and feedback."""
    rows = [_gain_row(one) for one in comparisons]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, domain=False)),
        color=_colours(strokes, theme),
        tooltip=[
            alt.Tooltip("name:N", title="method"),
            alt.Tooltip("gain:Q", title="points", format="+.0f"),
            alt.Tooltip("low:Q", title="from", format="+.0f"),
            alt.Tooltip("high:Q", title="to", format="+.0f"),
        ],
    )
    axis = alt.Axis(format="+.0f", grid=True, tickCount=6)
    title = "points over the baseline, second half"
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=theme.muted)
    return alt.layer(
        zero.encode(x="zero:Q"),
        base.mark_rule(strokeWidth=3, opacity=0.55).encode(
            x=alt.X("low:Q", title=title, axis=axis), x2="high:Q"
        ),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=alt.X("gain:Q", title=title, axis=axis)
        ),
    )


def to_spec(chart: alt.TopLevelMixin, *, theme: Theme, width: int | str, height: int) -> Spec:
    """Return a chart as a Vega-Lite spec with the theme's colours and letters.

    The address of the schema is left out: a page names nothing outside itself.
    """
    spec: Spec = chart.to_dict()
    spec.pop("$schema", None)
    sized = {"width": width, "height": height, "background": "transparent"}
    fit = {"autosize": {"type": "fit", "contains": "padding"}} if width == "container" else {}
    return spec | sized | fit | {"config": config(theme)}


def to_png(spec: Spec, *, theme: Theme) -> bytes:
    """Return a spec as PNG at twice its size, on the theme's paper."""
    drawn = spec | {"background": theme.paper, "padding": 20}
    return vl_convert.vegalite_to_png(drawn, scale=2, allowed_base_urls=[])


def _gain_row(one: Comparison) -> dict[str, object]:
    return {
        "name": f"{one.method}, {one.feedback}" if one.feedback else one.method,
        "method": one.method,
        "gain": 100 * one.gain,
        "low": 100 * one.low,
        "high": 100 * one.high,
    }


def _step_axis(length: int) -> alt.X:
    axis = alt.Axis(tickMinStep=1, grid=False, tickCount=6, format="d")
    scale = alt.Scale(domain=[0, length], nice=False, zero=True)
    return alt.X("step:Q", title="step of the stream", axis=axis, scale=scale)


def _accuracy_axis(field: str) -> alt.Y:
    axis = alt.Axis(format="%", tickCount=5, domain=False, ticks=False)
    return alt.Y(f"{field}:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, 1]))


def _colours(strokes: Sequence[Stroke], theme: Theme) -> alt.Color:
    scale = alt.Scale(
        domain=[stroke.label for stroke in strokes],
        range=[stroke.colour(theme) for stroke in strokes],
    )
    return alt.Color("method:N", scale=scale, legend=None)


def _dashes(strokes: Sequence[Stroke]) -> alt.StrokeDash:
    scale = alt.Scale(
        domain=[stroke.label for stroke in strokes],
        range=[list(stroke.dash) for stroke in strokes],
    )
    return alt.StrokeDash("method:N", scale=scale, legend=None)


def _half_rule(length: int, theme: Theme) -> Layered:
    base = alt.Chart(alt.InlineData(values=[{"step": length // 2, "words": "second half"}]))
    rule = base.mark_rule(color=theme.muted, strokeDash=[2, 4], opacity=0.8)
    text = base.mark_text(align="left", baseline="top", dx=6, color=theme.muted, fontSize=11)
    x = _step_axis(length)
    return alt.layer(rule.encode(x=x), text.encode(x=x, text="words:N", y=alt.value(2)))


def _end_labels(points: Sequence[CurvePoint], strokes: Sequence[Stroke], theme: Theme) -> alt.Chart:
    last = [max((p for p in points if p.label == s.label), key=lambda p: p.step) for s in strokes]
    rows = [
        {"method": point.label, "step": point.step, "place": place}
        for point, place in zip(last, spread_out([p.mean for p in last], ROOM), strict=True)
    ]
    text = alt.Chart(alt.InlineData(values=rows), name="labels").mark_text(
        align="left", baseline="middle", dx=8, fontSize=13, fontWeight=600
    )
    labels: alt.Chart = text.encode(
        x="step:Q", y="place:Q", text="method:N", color=_colours(strokes, theme)
    )
    return labels


def spread_out(places: Sequence[float], room: float) -> list[float]:
    """Move places on 0 to 1 apart until no two are closer than `room`; their order stays.

    Where there are too many for that, they are spaced evenly.

    Examples:
        >>> [round(place, 2) for place in spread_out([0.5, 0.5, 0.1], 0.1)]
        [0.45, 0.55, 0.1]
    """
    order = sorted(range(len(places)), key=lambda place: (places[place], place))
    room = min(room, 1 / max(1, len(places) - 1))
    sorted_places = _pushed([places[place] for place in order], room)
    moved = dict(zip(order, sorted_places, strict=True))
    return [moved[place] for place in range(len(places))]


def _pushed(places: list[float], room: float) -> list[float]:
    """Push ascending places apart both ways, then back from the two ends."""
    count = len(places)
    for _ in range(60):
        for low in range(count - 1):
            lacking = max(0.0, room - (places[low + 1] - places[low]))
            places[low] -= lacking / 2
            places[low + 1] += lacking / 2
    for place in range(count):
        least = places[place - 1] + room if place else 0.0
        places[place] = max(places[place], least)
    for place in reversed(range(count)):
        most = places[place + 1] - room if place < count - 1 else 1.0
        places[place] = min(places[place], most)
    return places


def _reading_rule(
    points: Sequence[CurvePoint], strokes: Sequence[Stroke], theme: Theme
) -> alt.Chart:
    """Return a rule that follows the pointer and tells every method's accuracy at its step."""
    ends = {point.label: point.mean for point in points}
    best_first = sorted((stroke.label for stroke in strokes), key=lambda label: -ends[label])
    names = {label: f"m{place}" for place, label in enumerate(best_first)}
    steps: dict[int, dict[str, float]] = {}
    for point in points:
        steps.setdefault(point.step, {"step": point.step})[names[point.label]] = point.mean
    nearest = alt.selection_point(
        name="reading", nearest=True, on="pointermove", fields=["step"], empty=False
    )
    tooltip = [alt.Tooltip("step:Q", format="d")] + [
        alt.Tooltip(f"{field}:Q", title=label, format=".0%") for label, field in names.items()
    ]
    rule = alt.Chart(alt.InlineData(values=list(steps.values())), name="reading_rule").mark_rule(
        color=theme.muted, strokeWidth=1
    )
    shown = alt.condition(nearest, alt.value(0.7), alt.value(0))
    reading: alt.Chart = rule.encode(x="step:Q", opacity=shown, tooltip=tooltip)
    return reading.add_params(nearest)


def config(theme: Theme) -> Spec:
    """Return the letters and lines of every chart under a theme."""
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": theme.muted,
            "titleColor": theme.muted,
            "titleFontWeight": 500,
            "gridColor": theme.line,
            "domainColor": theme.line,
            "tickColor": theme.line,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelPadding": 6,
            "titlePadding": 10,
        },
    }
