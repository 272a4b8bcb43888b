"""The limits that a control task is held against: what no gate, or no ideal observer, passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from learnloop.reports.belief_grid import FlippingRule
from learnloop.reports.ceilings import Schedule, bayes_ceiling, filter_curve
from learnloop.reports.control_sections import ControlSection, Level
from learnloop.reports.frontier import FrontierPoint, frontier
from learnloop.reports.guess_ceiling import Corrupts, GuessingGame, guess_ceiling
from learnloop.reports.tracking_limits import least_rmse, sinusoid

MOST_EDITS = 60
PHASES = 8
LENGTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitPoint:
    """What is reached with a mean number of changes of the prompt."""

    edits: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitCurve:
    """A limit by the number of edits. `is_main` is the one that distances are measured to."""

    name: str
    points: tuple[LimitPoint, ...]
    is_main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one task at one level of noise is held against.

    Attributes:
        curves: Limits by the number of edits.
        ceiling: The limit where edits are free; `None` where it is not known.
        ceiling_name: What that is.
    """

    curves: tuple[LimitCurve, ...] = ()
    ceiling: float | None = None
    ceiling_name: str = ""

    def reached_with(self, edits: float) -> float | None:
        """Return what the limit is at a mean number of edits; `None` where there is none.

        Between two points lies what a mixture of the two reaches.
        """
        main = next((curve.points for curve in self.curves if curve.is_main), ())
        if not main:
            return self.ceiling
        if edits < main[0].edits:
            return None
        return float(np.interp(edits, [p.edits for p in main], [p.value for p in main]))


def make_limits(section: ControlSection) -> dict[str, Limits]:
    """Return what is known of the limits of a section, by feedback."""
    make = {"parity": _parity, "guess": _guess, "track": _track}[section.task]
    found = {level.feedback: make(section, level) for level in section.levels}
    return {feedback: limits for feedback, limits in found.items() if limits is not None}


def _parity(section: ControlSection, level: Level) -> Limits | None:
    """Return the limits of a rule that flips three times; none where its start is not told."""
    length = _whole(section.params, "length", LENGTH)
    if section.params.get("start", "known") != "known" or level.noise >= 0.5:
        return None
    rule = FlippingRule(eta=level.noise, hazard=4 / length, steps=length)
    centres = tuple(round(share * length) for share in (0.25, 0.5, 0.75))
    schedule = Schedule(centres=centres, jitter=_whole(section.params, "jitter", 3))
    return Limits(
        curves=(
            _curve(FRONTIER.format(length / 4), frontier(rule)),
            _curve(FILTER, filter_curve(rule, schedule=schedule), is_main=True),
        ),
        ceiling=bayes_ceiling(rule, schedule=schedule),
        ceiling_name="Bayes ceiling",
    )


def _curve(name: str, points: Sequence[FrontierPoint], *, is_main: bool = False) -> LimitCurve:
    """Return the points by edits, each number of edits once with the best that it reaches."""
    best: dict[float, float] = {}
    for point in points:
        edits = round(point.edits, 3)
        best[edits] = max(best.get(edits, 0.0), point.accuracy)
    sorted_points = [LimitPoint(edits=edits, value=best[edits]) for edits in sorted(best)]
    return LimitCurve(name=name, points=tuple(sorted_points), is_main=is_main)


def _guess(section: ControlSection, level: Level) -> Limits | None:
    corrupts: Corrupts = "message" if section.params.get("corrupts") == "message" else "direction"
    game = GuessingGame(
        eta=level.noise,
        corrupts=corrupts,
        steps=_whole(section.params, "length", LENGTH),
        period=_whole(section.params, "period", 30),
        bucket=_whole(section.params, "bucket", 10),
    )
    return Limits(
        ceiling=guess_ceiling(game, runs=400).mean, ceiling_name="ideal tracker, simulated"
    )


def _track(section: ControlSection, level: Level) -> Limits | None:
    """Return the least error of a held value, the mean over the paths that were run."""
    paths = _paths(section, level)
    if section.params.get("slope") or not paths:
        return None
    courses = [least_rmse(path, min(MOST_EDITS, len(path) - 1)) for path in paths]
    shortest = min(map(len, courses))
    points = tuple(
        LimitPoint(edits=float(edits), value=fmean(course[edits].rmse for course in courses))
        for edits in range(shortest)
    )
    return Limits(curves=(LimitCurve(name=HELD, points=points, is_main=True),))


def _paths(section: ControlSection, level: Level) -> list[tuple[float, ...]]:
    """Return the hidden numbers of the runs, where all are on record, or sinusoids of all phases.

    The path of another kind that is on record stands for those that are not.
    """
    runs = [run for label in section.labels for run in section.finished(label, level)]
    recorded = {
        run.summary.seed: tuple(float(step.gold) for step in run.record.steps)
        for run in runs
        if run.record is not None and all(step.gold for step in run.record.steps)
    }
    has_all = recorded.keys() == {run.summary.seed for run in runs}
    if has_all or section.params.get("path", "sinusoid") != "sinusoid":
        return list(recorded.values())
    return _phases(section.params)


def _phases(params: Mapping[str, object]) -> list[tuple[float, ...]]:
    """Return sinusoids that begin at evenly spaced phases."""
    length = _whole(params, "length", LENGTH)
    cycles = params.get("cycles", 1.5)
    turns = float(cycles) if isinstance(cycles, (int, float)) else 1.5
    a_cycle = length / turns
    whole = sinusoid(steps=2 * length, cycles=2 * turns)
    starts = [round(place * a_cycle / PHASES) for place in range(PHASES)]
    return [whole[start : start + length] for start in starts if start + length <= len(whole)]


def _whole(params: Mapping[str, object], name: str, default: int) -> int:
    value = params.get(name, default)
    return value if isinstance(value, int) else default


FRONTIER = "best gate, flips at hazard 1/{:g}"
FILTER = "ideal filter, not told the schedule"
HELD = "best held values, told the path"
IN_WORDS = {
    "parity": "what the ideal filter, not told the schedule, reaches with as many changes of the "
    "prompt",
    "guess": "the error of the ideal tracker, who is told the noise and edits at every step",
    "track": "the least error of values that are held between as many edits, for one who is told "
    "the whole path",
}
"""What the main limit of each task is."""
