"""Intervals of whole numbers as they are observed, and what most of several agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LOWEST, HIGHEST = 1, 100
"""Hidden numbers are from 1 to 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The whole numbers from `low` to `high`, both among them."""

    low: int
    high: int

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    def meets(self, other: Interval) -> bool:
        """Whether the two have a number in common."""
        return self.low <= other.high and other.low <= self.high

    def widened(self, margin: int) -> Interval:
        """Return the interval with a margin on both sides, within 1 to 100."""
        return Interval(low=max(LOWEST, self.low - margin), high=min(HIGHEST, self.high + margin))

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


EVERYTHING = Interval(low=LOWEST, high=HIGHEST)


def read_interval(text: str) -> Interval:
    """Return what `low-high`, or a single number, says.

    Examples:
        >>> read_interval("60-69").middle, str(read_interval("7"))
        (64, '7')
    """
    low, _, high = text.partition("-")
    return Interval(low=int(low), high=int(high or low))


def agreed(intervals: Sequence[Interval], *, believed: Interval = EVERYTHING) -> Interval:
    """Return the numbers that lie in most of the intervals, of which there is at least one.

    Of numbers in as many, those that are `believed` stay where there are any; of several
    stretches, the one that the newest interval (the last) reaches.

    Examples:
        >>> two = [Interval(low=60, high=69), Interval(low=65, high=73)]
        >>> str(agreed(two)), str(agreed(two, believed=Interval(low=1, high=66)))
        ('65-69', '65-66')
    """
    counts = dict.fromkeys(range(LOWEST, HIGHEST + 1), 0)
    for each in intervals:
        for number in range(each.low, each.high + 1):
            counts[number] += 1
    most = max(counts.values())
    best = [number for number, count in counts.items() if count == most]
    kept = [number for number in best if believed.low <= number <= believed.high]
    stretches = _stretches(kept or best)
    return next(
        stretch for each in reversed(intervals) for stretch in stretches if stretch.meets(each)
    )


def _stretches(numbers: Sequence[int]) -> list[Interval]:
    """Return the stretches without a gap in ascending numbers."""
    starts = [n for n, before in zip(numbers, [None, *numbers], strict=False) if before != n - 1]
    ends = [n for n, after in zip(numbers, [*numbers[1:], None], strict=True) if after != n + 1]
    return [Interval(low=low, high=high) for low, high in zip(starts, ends, strict=True)]
