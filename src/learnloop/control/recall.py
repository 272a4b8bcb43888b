"""Recall: which of the prompts that were in force before explains what is observed now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.control.ranges import SLACK, check_range


@dataclass(slots=True, kw_only=True, eq=False)
class BestRecall:
    """Takes the earlier prompt with the least summed error on the evidence, if it is good enough.

    It must make `margin` errors fewer than the prompt in force, and `max_error` in the mean or
    less. Among equals the one that was in force last is taken. Without evidence, none is.

    Args:
        margin: Errors that the earlier prompt must save, above 0.
        max_error: Mean error up to which it explains the evidence.
        keep: How many earlier prompts are looked at, the newest first.

    Examples:
        >>> recall = BestRecall(margin=1)
        >>> recall.choose([1.0, 1.0, 0.0], [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
        1
        >>> recall.choose([1.0, 0.0], [[0.0, 1.0]]) is None
        True
    """

    margin: float = 1.0
    max_error: float = 0.5
    keep: int = 8

    def __post_init__(self) -> None:
        check_range("margin", self.margin, above=0)
        check_range("max_error", self.max_error, at_least=0, at_most=1)
        check_range("keep", self.keep, at_least=1)

    def choose(self, current: Sequence[float], earlier: Sequence[Sequence[float]]) -> int | None:
        considered = earlier[: self.keep]
        if not current or not considered:
            return None
        totals = [sum(errors) for errors in considered]
        best = min(range(len(totals)), key=totals.__getitem__)
        saves = sum(current) - totals[best] >= self.margin - SLACK
        explains = totals[best] <= self.max_error * len(current) + SLACK
        return best if saves and explains else None
