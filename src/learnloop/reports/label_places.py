"""Finds a place for the name of each point of a chart, so that no name covers another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LETTER, LINE = 6.3, 15.0
REACHES = (9.0, 15.0, 24.0, 36.0, 50.0, 66.0, 84.0)
DIRECTIONS = 24
LED = 20.0
"""Names farther off than this are led to their point by a line."""
_DOT = 6.0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: _Box) -> float:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)

    def outside(self, frame: Frame) -> float:
        return (
            max(0.0, -self.left)
            + max(0.0, self.right - frame.width)
            + max(0.0, -self.top)
            + max(0.0, self.bottom - frame.height)
        )


def place_names(
    spots: Sequence[Spot], *, frame: Frame, avoid: Sequence[Spot] = ()
) -> list[NamePlace]:
    """Return a place for each name, near its point, on no other name, point or edge if possible.

    Args:
        spots: The points with their names.
        frame: The chart.
        avoid: Points without a name, such as those of a curve, that are covered only if need be.
    """
    dots = [_dot(spot, _DOT) for spot in spots]
    softly = [_dot(spot, 3.0) for spot in avoid]
    order = sorted(range(len(spots)), key=lambda place: -_crowd(spots[place], spots))
    taken: list[_Box] = []
    found: dict[int, NamePlace] = {}
    for place in order:
        best, box = min(
            _candidates(spots[place]),
            key=lambda one: _badness(*one, frame=frame, hard=[*dots, *taken], soft=softly),
        )
        found[place] = best
        taken.append(box)
    return [found[place] for place in range(len(spots))]


def _candidates(spot: Spot) -> Iterator[tuple[NamePlace, _Box]]:
    wide = LETTER * len(spot.name)
    for reach in REACHES:
        for turn in range(DIRECTIONS):
            angle = 2 * math.pi * turn / DIRECTIONS
            dx, dy = reach * math.cos(angle), reach * math.sin(angle)
            aside = abs(math.cos(angle)) > 0.35
            align = ("left" if dx > 0 else "right") if aside else "center"
            left = {"left": 0.0, "right": -wide, "center": -wide / 2}[align]
            yield (
                NamePlace(dx=round(dx, 1), dy=round(dy, 1), align=align),
                _Box(
                    left=spot.x + dx + left,
                    right=spot.x + dx + left + wide,
                    top=spot.y + dy - LINE / 2,
                    bottom=spot.y + dy + LINE / 2,
                ),
            )


def _badness(
    place: NamePlace, box: _Box, *, frame: Frame, hard: Sequence[_Box], soft: Sequence[_Box]
) -> float:
    covered = sum(box.overlap(other) for other in hard)
    crossed = sum(box.overlap(other) > 0 for other in soft)
    reach = math.hypot(place.dx, place.dy)
    level = 0.0 if place.align != "center" and abs(place.dy) < 3 else 2.0
    return 50 * covered + 80 * box.outside(frame) + 2.5 * crossed + reach + level


def _dot(spot: Spot, radius: float) -> _Box:
    return _Box(
        left=spot.x - radius,
        right=spot.x + radius,
        top=spot.y - radius,
        bottom=spot.y + radius,
    )


def _crowd(spot: Spot, spots: Sequence[Spot]) -> int:
    return sum(math.hypot(spot.x - other.x, spot.y - other.y) < 60 for other in spots)
