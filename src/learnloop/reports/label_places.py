"""Finds a place for the name of each point of a chart, so that no name covers another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

LETTER, LINE = 6.3, 15.0
REACHES = (9.0, 15.0, 24.0, 36.0, 50.0, 66.0, 84.0)
DIRECTIONS = 24
LED = 20.0
"""Names farther off than this are led to their point by a line."""
_DOT, _SPECK = 6.0, 3.0
_COVERED, _OUTSIDE, _CROSSED, _ASLANT = 50.0, 600.0, 2.5, 2.0
"""What makes a place bad, beside being far off: the first two are as good as ruled out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The size of a chart in pixels, where names must stay."""

    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A point with a name; `x` from the left and `y` from the top, in pixels."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePlace:
    """Where a name stands from its point, in pixels; `align` says which of its ends is there."""

    dx: float
    dy: float
    align: str

    @property
    def is_led(self) -> bool:
        """Whether it is so far off that a line has to lead to it."""
        return math.hypot(self.dx, self.dy) > LED


def place_names(
    spots: Sequence[Spot], *, frame: Frame, avoid: Sequence[Spot] = ()
) -> list[NamePlace]:
    """Return a place for each name, near its point, on no other name, point or edge if possible.

    Those in a crowd are placed first, each where it is best beside those that have a place.

    Args:
        spots: The points with their names.
        frame: The chart.
        avoid: Points without a name, such as those of a curve, that are covered only if need be.
    """
    taken = _dots(spots, _DOT)
    soft = _dots(avoid, _SPECK)
    found: dict[int, NamePlace] = {}
    for number in sorted(range(len(spots)), key=lambda one: -_crowd(spots[one], spots)):
        boxes = _boxes(spots[number])
        badness = (
            _COVERED * _overlaps(boxes, taken).sum(axis=1)
            + _CROSSED * (_overlaps(boxes, soft) > 0).sum(axis=1)
            + _OUTSIDE * _outside(boxes, frame)
            + _DISLIKE
        )
        best = int(badness.argmin())
        found[number] = _PLACES[best]
        taken = np.vstack([taken, boxes[best]])
    return [found[number] for number in range(len(spots))]


def name_box(spot: Spot, place: NamePlace) -> tuple[float, float, float, float]:
    """Return the edges of a name in its place: left, top, right and bottom."""
    wide = LETTER * len(spot.name)
    left = spot.x + place.dx - _LEFT_OF[place.align] * wide
    middle = spot.y + place.dy
    return left, middle - LINE / 2, left + wide, middle + LINE / 2


def _boxes(spot: Spot) -> Numbers:
    return np.array([name_box(spot, place) for place in _PLACES])


def _dots(spots: Sequence[Spot], radius: float) -> Numbers:
    edges = [(one.x - radius, one.y - radius, one.x + radius, one.y + radius) for one in spots]
    return np.array(edges, dtype=float).reshape(-1, 4)


def _overlaps(boxes: Numbers, others: Numbers) -> Numbers:
    """Return the area that each box (rows) shares with each of the others (columns)."""
    one, other = boxes[:, None], others[None]
    wide = np.minimum(one[..., 2], other[..., 2]) - np.maximum(one[..., 0], other[..., 0])
    high = np.minimum(one[..., 3], other[..., 3]) - np.maximum(one[..., 1], other[..., 1])
    area: Numbers = np.maximum(wide, 0) * np.maximum(high, 0)
    return area


def _outside(boxes: Numbers, frame: Frame) -> Numbers:
    beyond = np.array([frame.width, frame.height])
    out: Numbers = np.maximum(-boxes[:, :2], 0).sum(axis=1)
    out += np.maximum(boxes[:, 2:] - beyond, 0).sum(axis=1)
    return out


def _crowd(spot: Spot, spots: Sequence[Spot]) -> int:
    return sum(math.hypot(spot.x - other.x, spot.y - other.y) < 60 for other in spots)


def _place(reach: float, turn: int) -> NamePlace:
    angle = 2 * math.pi * turn / DIRECTIONS
    dx, dy = reach * math.cos(angle), reach * math.sin(angle)
    aside = abs(math.cos(angle)) > 0.35
    align = ("left" if dx > 0 else "right") if aside else "center"
    return NamePlace(dx=round(dx, 1), dy=round(dy, 1), align=align)


_LEFT_OF = {"left": 0.0, "right": 1.0, "center": 0.5}
_PLACES = [_place(reach, turn) for reach in REACHES for turn in range(DIRECTIONS)]
_DISLIKE = np.array(
    [
        math.hypot(one.dx, one.dy) + (0.0 if one.align != "center" and abs(one.dy) < 1 else _ASLANT)
        for one in _PLACES
    ]
)
