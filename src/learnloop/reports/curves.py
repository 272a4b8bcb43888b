"""Learning curves as numbers: accuracy by step, mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from learnloop.reports.groups import Group, Section
from learnloop.reports.statistics import cumulative_mean, rolling_mean, spread

MOST_POINTS = 240
LEAST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Accuracy of one method at one step; `low` and `high` are one sd below and above the mean.

    With one seed there is no spread, and both equal the mean. `seeds` counts the runs that got
    as far as this step.
    """

    label: str
    step: int
    mean: float
    low: float
    high: float
    seeds: int


def window_for(length: int) -> int:
    """Return the width of the rolling mean: a quarter of the stream, at least 5, at most 50.

    Examples:
        >>> window_for(60), window_for(8), window_for(2000)
        (15, 5, 50)
    """
    return max(5, min(50, length // 4))


def rolling_curves(section: Section, feedback: str, *, window: int) -> list[CurvePoint]:
    """Return the accuracy over the last `window` steps, fewer near the start."""
    return _curves(section, feedback, lambda scores: rolling_mean(scores, window, least=LEAST))


def cumulative_curves(section: Section, feedback: str) -> list[CurvePoint]:
    """Return the accuracy since the start."""
    return _curves(section, feedback, cumulative_mean)


def _curves(
    section: Section, feedback: str, smooth: Callable[[Sequence[float]], list[float | None]]
) -> list[CurvePoint]:
    length = section.length(feedback)
    steps = _thinned(length)
    groups = [group for group in section.groups if group.feedback == feedback]
    return [point for group in groups for point in _curve(group, steps, smooth)]


def _curve(
    group: Group, steps: Sequence[int], smooth: Callable[[Sequence[float]], list[float | None]]
) -> list[CurvePoint]:
    lines = [smooth(run.scores) for run in group.runs]
    points = []
    for step in steps:
        there = [line[step - 1] for line in lines if len(line) >= step]
        values = [value for value in there if value is not None]
        if values:
            points.append(_point(group.label, step, values))
    return points


def _point(label: str, step: int, values: Sequence[float]) -> CurvePoint:
    found = spread(values)
    sd = found.sd or 0.0
    return CurvePoint(
        label=label,
        step=step,
        mean=found.mean,
        low=max(0.0, found.mean - sd),
        high=min(1.0, found.mean + sd),
        seeds=found.n,
    )


def _thinned(length: int) -> list[int]:
    """Return the steps that are drawn: all of a short stream, evenly spaced ones of a long."""
    stride = -(-length // MOST_POINTS) if length else 1
    return sorted({*range(stride, length + 1, stride), *([length] if length else [])})
