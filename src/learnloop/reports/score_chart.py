"""The chart of a study: score against the tokens that a model had to write, by configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from learnloop.reports.arm_marks import Axes, Extent, Pens, arm_marks
from learnloop.reports.charts import to_spec
from learnloop.reports.control_panels import Panel
from learnloop.reports.themes import THEMES, Stroke
from learnloop.reports.token_costs import TokenCost
from learnloop.reports.wording import per_unit, tenths

HEIGHT = 300
_ROOM = 1.12


def score_panels(costs: Sequence[TokenCost], *, legend: tuple[Stroke, ...]) -> list[Panel]:
    """Return a panel for each configuration: every method a point."""
    gathered: dict[tuple[str, str], list[TokenCost]] = {}
    for cost in costs:
        gathered.setdefault((cost.benchmark, cost.model), []).append(cost)
    models = {model for _, model in gathered}
    return [
        _panel(number, benchmark if len(models) == 1 else f"{benchmark}, {model}", members, legend)
        for number, ((benchmark, model), members) in enumerate(gathered.items())
    ]


def _panel(
    number: int, title: str, costs: Sequence[TokenCost], legend: tuple[Stroke, ...]
) -> Panel:
    points = [_point(cost) for cost in costs]
    said = [
        f"{one.method} {tenths(one.accuracy)} with {per_unit(one.tokens_out)} tokens"
        for one in costs
    ]
    specs = {}
    for theme in THEMES:
        axes = _axes(costs)
        marks = arm_marks(points, axes=axes, pens=Pens(legend, theme), avoid=())
        specs[theme.name] = to_spec(
            alt.layer(*marks), theme=theme, width="container", height=HEIGHT
        )
    words = f"Score against written tokens a query, {title}: {'; '.join(said)}."
    return Panel(id=f"score-{number}", title=title, words=words, specs=specs)


def _point(cost: TokenCost) -> dict[str, Any]:
    return {
        "arm": cost.method,
        "x": round(cost.tokens_out, 2),
        "y": round(cost.accuracy, 5),
        "merit": cost.accuracy,
        "reached": f"{tenths(cost.accuracy)} %",
        "price": f"{per_unit(cost.tokens_out)} tokens written a query",
        "seeds": cost.orders,
    }


def _axes(costs: Sequence[TokenCost]) -> Axes:
    scores = [cost.accuracy for cost in costs]
    low = max(0.0, math.floor(10 * min(scores) - 0.5) / 10)
    high = min(1.0, math.ceil(10 * max(scores) + 0.5) / 10)
    most = max(1.0, *(cost.tokens_out for cost in costs)) * _ROOM
    extent = Extent(x=(0.0, most), y=(low, high))
    x = alt.X(
        "x:Q",
        title="tokens written a query, all roles",
        scale=alt.Scale(domain=[0.0, most], nice=False),
        axis=alt.Axis(grid=False, tickCount=5, format="~s", labelOverlap=True),
    )
    y = alt.Y(
        "y:Q",
        title="score",
        scale=alt.Scale(domain=[low, high], nice=False),
        axis=alt.Axis(format="%", tickCount=5, domain=False, ticks=False),
    )
    return Axes(x=x, y=y, extent=extent)
