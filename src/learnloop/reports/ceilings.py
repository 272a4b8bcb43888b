"""What an ideal filter reaches on a rule that flips, step by step: the ceiling of every gate."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from learnloop.errors import ParameterError
from learnloop.reports.belief_grid import (
    GRID_SIZE,
    BeliefMoves,
    Flags,
    FlippingRule,
    Numbers,
    belief_moves,
)
from learnloop.reports.frontier import PRICES, FrontierPoint, frontier

INDIFFERENT = 0.5
_PENDING, _DONE = 0, 1
_HEALTHY, _STALE = 0, 1
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Exactly one flip near each of `centres`, at any step within `jitter` of it alike.

    Steps are counted from zero.
    """

    centres: tuple[int, ...] = (30, 60, 90)
    jitter: int = 3

    def __post_init__(self) -> None:
        if self.jitter < 0:
            raise ParameterError(f"jitter must be at least 0, got {self.jitter!r}")
        edges = [0, *(edge for c in self.centres for edge in (c - self.jitter, c + self.jitter))]
        apart = all(low < high for low, high in zip(edges[::2], edges[1::2], strict=False))
        if not apart:
            raise ParameterError(
                f"centres must rise, begin after the first step and leave no step to two flips, "
                f"got {self.centres!r} with jitter {self.jitter!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCourse:
    """What a gate on the ideal filter reaches: its means, and the chance of a fit by step."""

    threshold: float
    accuracy: float
    edits: float
    accuracy_by_step: tuple[float, ...]


def bayes_ceiling(rule: FlippingRule, *, schedule: Schedule | None = None) -> float:
    """Return the accuracy of a filter that predicts what it believes, edits being free.

    Without a schedule flips come at the hazard, and nothing does better. With one the filter
    still supposes the hazard: whoever knows the schedule could pass this ceiling.
    """
    free = FlippingRule(eta=rule.eta, hazard=rule.hazard, steps=rule.steps)
    return bayes_gate(free, threshold=INDIFFERENT, schedule=schedule).accuracy


def filter_curve(
    rule: FlippingRule, *, schedule: Schedule, prices: tuple[float, ...] = PRICES
) -> tuple[FrontierPoint, ...]:
    """Return what the gates of the frontier reach where flips keep to a schedule.

    They are the best for flips at the hazard and are not told the schedule; the frontier itself
    is no limit here, since flips that keep their distance are easier to follow.
    """
    points = []
    for point in frontier(rule, prices=prices):
        threshold = math.inf if point.threshold is None else point.threshold
        course = bayes_gate(rule, threshold=threshold, schedule=schedule)
        points.append(replace(point, accuracy=course.accuracy, edits=course.edits))
    return tuple(points)


@functools.lru_cache(maxsize=128)
def bayes_gate(
    rule: FlippingRule,
    *,
    threshold: float,
    schedule: Schedule | None = None,
    size: int = GRID_SIZE,
) -> FilterCourse:
    """Return what a gate does that edits when its belief in staleness reaches `threshold`.

    It does not know where the run ends, so it may edit after the last step. The distribution of
    belief and truth is carried from step to step; nothing is sampled.
    """
    if not threshold > 0:
        raise ParameterError(f"threshold must be above 0, got {threshold!r}")
    moves = belief_moves(rule, size)
    fires = moves.points >= threshold - _ROUNDING
    mass = np.zeros((2, 2, size))
    mass[_PENDING, _HEALTHY, 0] = 1
    fits, edits = [1.0], 0.0
    for step in range(1, rule.steps):
        mass = _drift(mass, step, rule.hazard, schedule)
        fits.append(float(mass[:, _HEALTHY].sum()))
        mass = _observe(mass, moves)
        edits += float(mass[:, :, fires].sum())
        mass = _edit(mass, moves, fires, rule.repair)
    return FilterCourse(
        threshold=threshold,
        accuracy=sum(fits) / rule.steps,
        edits=edits,
        accuracy_by_step=tuple(fits),
    )


def _drift(mass: Numbers, step: int, hazard: float, schedule: Schedule | None) -> Numbers:
    """Move what flips at `step` to the other state; under a schedule it flips once a window."""
    if schedule is None:
        return mass * (1 - hazard) + mass[:, ::-1] * hazard
    for centre in schedule.centres:
        place = step - (centre - schedule.jitter)
        chances_left = 2 * schedule.jitter + 1 - place
        if place < 0 or chances_left < 1:
            continue
        pending, done = mass if place else (mass.sum(axis=0), np.zeros_like(mass[_DONE]))
        flipped = pending / chances_left
        return np.stack([pending - flipped, done + flipped[::-1]])
    return mass


def _observe(mass: Numbers, moves: BeliefMoves) -> Numbers:
    return np.stack(
        [
            (moves.healthy.T @ mass[:, _HEALTHY].T).T,
            (moves.stale.T @ mass[:, _STALE].T).T,
        ],
        axis=1,
    )


def _edit(mass: Numbers, moves: BeliefMoves, fires: Flags, repair: float) -> Numbers:
    """Edit where the gate fires: belief and truth move, the truth only if the edit succeeds."""
    fired = mass * fires
    turned = repair * fired[:, ::-1] + (1 - repair) * fired
    size = mass.shape[-1]
    landed = (moves.edited.T @ turned.reshape(-1, size).T).T.reshape(mass.shape)
    after: Numbers = mass - fired + landed
    return after
