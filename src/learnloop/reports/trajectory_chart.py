"""The figure of one run: answers, errors, the gate, the prompts and what happened to them.

A template is the same for every run of a kind; data, length and width are put in for one run,
here for a PNG and by the page's script on the page.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from learnloop.reports.charts import Spec, config
from learnloop.reports.themes import Theme
from learnloop.reports.trajectories import Trajectory

WIDTH = 860
LEFT = 70
"""Room for the names of rows and values, the same in every lane."""
LETTER = 6.4


def template(theme: Theme, *, is_number: bool) -> Spec:
    """Return the figure without data; `$END`, `$LOW` and `$HIGH` stand for numbers of a run."""
    answers = _numbers(theme) if is_number else _verdicts(theme)
    lanes = [answers, _errors(theme), _gate(theme), _prompts(theme), _happened(theme)]
    shared = [_flip_rules(theme), _cursor(theme)]
    return {
        "vconcat": [{**lane, "layer": [*lane["layer"], *shared]} for lane in lanes],
        "params": [{"name": "at", "value": 0}],
        "spacing": 34,
        "bounds": "flush",
        "resolve": {"scale": {"color": "independent"}},
        "padding": {"left": 0, "right": 4, "top": 4, "bottom": 4},
        "background": "transparent",
        "config": config(theme),
    }


def fill(spec: Spec, run: Trajectory, *, width: int = WIDTH) -> Spec:
    """Return the figure of one run; `width` is that of the plot."""
    numbers = {
        '"$END"': str(len(run.steps) + 0.5),
        '"$LOW"': str(run.low),
        '"$HIGH"': str(run.high),
    }
    text = json.dumps(spec)
    for mark, number in numbers.items():
        text = text.replace(mark, number)
    filled: Spec = json.loads(text)
    for lane in filled["vconcat"]:
        lane["width"] = width
    return filled | {"datasets": datasets(run, width=width)}


def datasets(run: Trajectory, *, width: int) -> dict[str, list[dict[str, Any]]]:
    """Return the data of the figure by name."""
    a_step = width / max(1, len(run.steps))
    versions = []
    for version in run.versions:
        room = (version.end - version.start + 1) * a_step / LETTER
        words = " · ".join(version.text.splitlines())
        number = f"v{version.version}"
        label = words if len(words) < room else number if len(number) < room else ""
        versions.append({**asdict(version), "label": label, "look": version.look % 6})
    return {
        "steps": list(run.steps),
        "terms": list(run.terms),
        "ends": list(run.ends),
        "flips": [{"step": step} for step in run.flips],
        "events": list(run.events),
        "versions": versions,
    }


def _x(field: str = "step", *, axis: bool = False) -> dict[str, Any]:
    ticks = {"title": "step", "grid": False, "tickCount": 8, "format": "d"} if axis else None
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0.5, "$END"], "nice": False, "zero": False},
        "axis": ticks,
    }


def _title(words: str, theme: Theme) -> dict[str, Any]:
    return {
        "text": words,
        "anchor": "start",
        "frame": "group",
        "fontSize": 12,
        "fontWeight": 600,
        "color": theme.muted,
        "offset": 6,
    }


def _verdicts(theme: Theme) -> Spec:
    """Return a band of answers: pale where right, dark where wrong."""
    colour = {
        "field": "verdict",
        "type": "nominal",
        "legend": None,
        "scale": {
            "domain": ["right", "wrong", "failed"],
            "range": [theme.line, theme.palette[1], theme.ink],
        },
    }
    band = {
        "data": {"name": "steps"},
        "transform": _SPAN,
        "mark": {"type": "rect"},
        "encoding": {
            "x": _x("from"),
            "x2": {"field": "to"},
            "color": colour,
            "tooltip": _TOOLTIP,
        },
    }
    return {
        "height": 22,
        "title": _title("Answers (wrong ones coloured; dashed lines: the rule flips)", theme),
        "layer": [band],
    }


def _numbers(theme: Theme) -> Spec:
    """Return the hidden number as a grey line and the answers as a coloured one."""
    axis = {"title": None, "tickCount": 4, "domain": False, "ticks": False, "minExtent": LEFT}
    scale = {"domain": [0, 100]}
    lines = [
        {
            "data": {"name": "steps"},
            "transform": [{"calculate": f"toNumber(datum.{field})", "as": "number"}],
            "mark": {
                "type": "line",
                "interpolate": "step",
                "color": colour,
                "strokeWidth": width,
            },
            "encoding": {
                "x": _x(),
                "y": {"field": "number", "type": "quantitative", "axis": axis, "scale": scale},
            },
        }
        for field, colour, width in (
            ("gold", theme.baseline, 3),
            ("answer", theme.palette[0], 1.8),
        )
    ]
    words = "Hidden number (thick, grey) and answers (dashed lines: the number jumps)"
    return {"height": 130, "title": _title(words, theme), "layer": [*lines, _touch()]}


def _errors(theme: Theme) -> Spec:
    colour = {
        "field": "false",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [False, True], "range": [theme.baseline, theme.palette[1]]},
    }
    bars = {
        "data": {"name": "steps"},
        "transform": [{"filter": "isValid(datum.error)"}, *_SPAN],
        "mark": {"type": "rect"},
        "encoding": {
            "x": _x("inner"),
            "x2": {"field": "outer"},
            "y": _y("error", [0, 1], values=[0, 1]),
            "y2": {"datum": 0},
            "color": colour,
            "tooltip": _TOOLTIP,
        },
    }
    lies = {
        "data": {"name": "steps"},
        "transform": [{"filter": "datum.false && datum.error === 0"}],
        "mark": {"type": "tick", "orient": "vertical", "thickness": 2, "size": 8},
        "encoding": {"x": _x(), "y": {"value": 32}, "color": {"value": theme.palette[1]}},
    }
    words = "Observed error (false feedback coloured)"
    return {"height": 36, "title": _title(words, theme), "layer": [bars, lies]}


def _gate(theme: Theme) -> Spec:
    words = "Gate: signal, threshold (dashed), and where it opened (dots)"
    fired = {
        "data": {"name": "steps"},
        "transform": [{"filter": "datum.opened"}],
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": theme.ink},
        "encoding": {"x": _x(), "y": _y("signal", _ENDS), "tooltip": _TOOLTIP},
    }
    threshold = _line("threshold", color=theme.ink, strokeDash=[6, 4], strokeWidth=1.2)
    signal = _line("signal", color=theme.palette[0], strokeWidth=2)
    layers = [*_terms(theme), threshold, signal, fired, _touch()]
    return {"height": 130, "title": _title(words, theme), "layer": layers}


def _line(field: str, **look: object) -> Spec:
    return {
        "data": {"name": "steps"},
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": {"type": "line", **look},
        "encoding": {"x": _x(), "y": _y(field, _ENDS)},
    }


def _terms(theme: Theme) -> list[Spec]:
    """Return the other terms of a gate as thin lines with their names at the end."""
    lines = {
        "data": {"name": "terms"},
        "mark": {"type": "line", "color": theme.muted, "strokeWidth": 1},
        "encoding": {
            "x": _x(),
            "y": _y("value", _ENDS),
            "detail": {"field": "term", "type": "nominal"},
        },
    }
    look = {"align": "right", "baseline": "middle", "color": theme.muted, "fontSize": 11}
    names = {
        "data": {"name": "ends"},
        "mark": {"type": "text", **look},
        "encoding": {"x": _x(), "y": _y("place", _ENDS), "text": {"field": "term"}},
    }
    return [lines, names]


def _prompts(theme: Theme) -> Spec:
    colour = {
        "field": "look",
        "type": "ordinal",
        "legend": None,
        "scale": {"domain": list(range(6)), "range": list(theme.palette)},
    }
    spans = [
        {"calculate": "datum.start - 0.5", "as": "from"},
        {"calculate": "datum.end + 0.5", "as": "to"},
    ]
    base = {"data": {"name": "versions"}, "transform": spans}
    tooltip = [
        {"field": "version", "title": "version"},
        {"field": "text", "title": "prompt"},
        {"field": "cause", "title": "how"},
    ]
    bars = {
        **base,
        "mark": {"type": "rect", "opacity": 0.28, "stroke": theme.paper, "strokeWidth": 2},
        "encoding": {
            "x": _x("from"),
            "x2": {"field": "to"},
            "color": colour,
            "tooltip": tooltip,
        },
    }
    words = {
        **base,
        "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 11, "color": theme.ink},
        "encoding": {"x": _x("from"), "text": {"field": "label"}},
    }
    title = _title("Prompt in force (the same text has the same colour)", theme)
    return {"height": 26, "title": title, "layer": [bars, words]}


def _happened(theme: Theme) -> Spec:
    axis = {
        "title": None,
        "domain": False,
        "ticks": False,
        "labelFontSize": 11,
        "grid": True,
        "minExtent": LEFT,
    }
    points = {
        "data": {"name": "events"},
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {
            "x": _x(axis=True),
            "y": {
                "field": "kind",
                "type": "nominal",
                "sort": list(_KINDS),
                "axis": axis,
            },
            "color": {
                "condition": {
                    "test": "datum.kind === 'invalid' || datum.kind === 'rolled back'",
                    "value": theme.palette[1],
                },
                "value": theme.ink,
            },
            "tooltip": [
                {"field": "step"},
                {"field": "kind", "title": "what"},
                {"field": "text", "title": "how"},
            ],
        },
    }
    return {"height": {"step": 17}, "title": _title("What happened", theme), "layer": [points]}


def _y(field: str, domain: list[Any], *, values: list[float] | None = None) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "title": None,
        "tickCount": 4,
        "domain": False,
        "ticks": False,
        "minExtent": LEFT,
    }
    if values is not None:
        axis |= {"values": values, "format": "d"}
    scale = {"domain": domain, "nice": False}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def _touch() -> Spec:
    """Return a clear sheet over a lane that tells of the step under the pointer."""
    return {
        "data": {"name": "steps"},
        "transform": _SPAN,
        "mark": {"type": "rect", "opacity": 0},
        "encoding": {"x": _x("from"), "x2": {"field": "to"}, "tooltip": _TOOLTIP},
    }


def _flip_rules(theme: Theme) -> Spec:
    return {
        "data": {"name": "flips"},
        "transform": [{"calculate": "datum.step - 0.5", "as": "from"}],
        "mark": {"type": "rule", "color": theme.ink, "strokeDash": [3, 3], "opacity": 0.75},
        "encoding": {"x": _x("from")},
    }


def _cursor(theme: Theme) -> Spec:
    return {
        "data": {"name": "steps"},
        "transform": [{"filter": "datum.step === at"}],
        "mark": {"type": "rule", "color": theme.palette[2], "strokeWidth": 1.5},
        "encoding": {"x": _x()},
    }


_ENDS: list[Any] = ["$LOW", "$HIGH"]
_SPAN = [
    {"calculate": "datum.step - 0.5", "as": "from"},
    {"calculate": "datum.step + 0.5", "as": "to"},
    {"calculate": "datum.step - 0.38", "as": "inner"},
    {"calculate": "datum.step + 0.38", "as": "outer"},
]
_TOOLTIP = [
    {"field": "step", "title": "step"},
    {"field": "query", "title": "query"},
    {"field": "answer", "title": "answer"},
    {"field": "gold", "title": "truth"},
    {"field": "heard", "title": "feedback"},
    {"field": "error", "title": "error"},
    {"field": "signal", "title": "signal"},
]
_KINDS = ("called", "edited", "kept", "invalid", "rolled back", "recalled")
