"""Hints about a hidden number: an answer is too low or too high, and by which class of distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from learnloop.environments.intervals import EVERYTHING, HIGHEST, LOWEST, Interval

Corrupts = Literal["direction", "message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What is said of one answer.

    Attributes:
        answer: The number that was answered, 1 to 100.
        side: 1 where it is too low, -1 where it is too high, 0 where it is right.
        bucket: The class of distance, from 0; 0 where it is right.
        width: Width of a class; the first one begins at a distance of 1.

    Examples:
        >>> hint = Hint(answer=50, side=1, bucket=1, width=10)
        >>> hint.words, str(hint.interval)
        ('50 is too low by 10-19', '60-69')
    """

    answer: int
    side: int
    bucket: int = 0
    width: int = 10

    @property
    def words(self) -> str | None:
        """The hint in words; `None` where the answer is right."""
        if not self.side:
            return None
        return f"{self.answer} is too {'low' if self.side > 0 else 'high'} by {self._distances}"

    @property
    def interval(self) -> Interval | None:
        """Where the number is if the hint is true; `None` if that leaves nothing of 1 to 100."""
        distances = self._distances
        ends = sorted(self.answer + self.side * far for far in (distances.low, distances.high))
        low, high = max(LOWEST, ends[0]), min(HIGHEST, ends[1])
        return Interval(low=low, high=high) if low <= high else None

    @property
    def _distances(self) -> Interval:
        nearest = self.bucket * self.width
        return Interval(low=max(1, nearest), high=nearest + self.width - 1)


def true_hint(answer: int, number: int, *, width: int) -> Hint:
    """Return what is to be said of an answer when the number is known."""
    distance = abs(number - answer)
    side = (number > answer) - (number < answer)
    return Hint(answer=answer, side=side, bucket=distance // width, width=width)


@lru_cache(maxsize=4096)
def false_hints(hint: Hint, *, corrupts: Corrupts) -> tuple[Hint, ...]:
    """Return the hints that may arrive in place of a true one, each as probable.

    `message`: any other that some number from 1 to 100 would make true. `direction`: too low and
    too high are exchanged and the distance stays; an answer that is right is called off by the
    least, either way. There is none where no number from 1 to 100 would make it true: 20 is never
    too high by 50-59.
    """
    others = [other for other in _possible(hint.answer, hint.width) if other != hint]
    if corrupts == "message":
        return tuple(others)
    if hint.side:
        return tuple(o for o in others if (o.side, o.bucket) == (-hint.side, hint.bucket))
    return tuple(other for other in others if other.bucket == 1 // hint.width)


@lru_cache(maxsize=1024)
def _possible(answer: int, width: int) -> tuple[Hint, ...]:
    """Return every hint about an answer that some number makes true."""
    numbers = range(EVERYTHING.low, EVERYTHING.high + 1)
    return tuple(dict.fromkeys(true_hint(answer, number, width=width) for number in numbers))
