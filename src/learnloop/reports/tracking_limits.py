"""How well a value that is held between edits can follow a moving target, for its edits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from learnloop.errors import ParameterError

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingPoint:
    """Edits of a run, and the root mean square of the distance from the target."""

    edits: int
    rmse: float


def sinusoid(
    *, steps: int = 120, cycles: float = 1.5, amplitude: float = 40.0, centre: float = 50.0
) -> tuple[float, ...]:
    """Return a target that swings about `centre` and begins there.

    Its greatest speed is amplitude * 2 pi * cycles / steps a step.
    """
    phase = 2 * math.pi * cycles * np.arange(steps) / steps
    return tuple((centre + amplitude * np.sin(phase)).tolist())


def hold(target: Sequence[float], every: int) -> TrackingPoint:
    """Return what editing every so many steps reaches, each edit without noise and in time.

    The first edit is at the first step.
    """
    values = _target(target)
    if every < 1:
        raise ParameterError(f"every must be at least 1, got {every!r}")
    held = values[np.arange(len(values)) // every * every]
    return TrackingPoint(edits=-(-len(values) // every), rmse=_root_mean_square(values - held))


def send_on_delta(target: Sequence[float], delta: float) -> TrackingPoint:
    """Return what editing after a step that was off by `delta` or more reaches, without noise.

    The first value is known. Edits are at most the target's variation over `delta`.
    """
    values = _target(target)
    if not delta > 0:
        raise ParameterError(f"delta must be above 0, got {delta!r}")
    held, edits, errors = values[0], 0, []
    for value in values:
        errors.append(value - held)
        if abs(value - held) >= delta:
            held, edits = value, edits + 1
    return TrackingPoint(edits=edits, rmse=_root_mean_square(np.asarray(errors)))


def variation(target: Sequence[float]) -> float:
    """Return the length of the way that the target goes up and down.

    Examples:
        >>> variation([0, 2, 1])
        3.0
    """
    return float(np.abs(np.diff(_target(target))).sum())


def rmse_rule_of_thumb(target: Sequence[float], edits: int) -> float:
    """Return the error of a uniform staircase of so many steps: variation / (edits sqrt 12).

    For a sinusoid of 1.5 cycles that is sqrt 3 times its amplitude over the edits.
    """
    if edits < 1:
        raise ParameterError(f"edits must be at least 1, got {edits!r}")
    return variation(target) / (math.sqrt(12) * edits)


def least_rmse(target: Sequence[float], most_edits: int) -> list[TrackingPoint]:
    """Return the least error that any held value has after 0, 1, ... `most_edits` edits.

    The exact optimum over all staircases, by dynamic programming, for one who knows the whole
    course beforehand: no gate and no editor of held values goes below it.
    """
    values = _target(target)
    if most_edits < 0:
        raise ParameterError(f"most_edits must be at least 0, got {most_edits!r}")
    stretch = _stretch_costs(values)
    best = stretch[0, 1:]
    points = []
    for edits in range(most_edits + 1):
        if edits:
            before = np.concatenate([[0.0], best])
            best = (before[:, None] + stretch).min(axis=0)[1:]
        points.append(TrackingPoint(edits=edits, rmse=math.sqrt(best[-1] / len(values))))
    return points


def _stretch_costs(values: Numbers) -> Numbers:
    """Return the squared error of the mean of `values[start:end]`, by start and end."""
    count = len(values)
    centred = values - values.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    squares = np.concatenate([[0.0], np.cumsum(centred**2)])
    start, end = np.indices((count + 1, count + 1))
    length = end - start
    total = sums[end] - sums[start]
    costs = squares[end] - squares[start] - total**2 / np.maximum(length, 1)
    return np.where(length >= 0, np.maximum(costs, 0.0), np.inf)


def _root_mean_square(errors: Numbers) -> float:
    return math.sqrt(float((errors**2).mean()))


def _target(target: Sequence[float]) -> Numbers:
    values = np.asarray(target, dtype=float)
    if values.size == 0:
        raise ParameterError("target must not be empty: nothing to follow")
    return values
