"""The D gate: whether there is more error now than there used to be."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class DerivativeGate:
    """Opens when the mean error of a short window exceeds that of a long one by the threshold.

    The windows overlap and end at the present call, and both survive a reset: were the long one
    cleared, the two would hold the same errors, and the gate would be dead for as long as the
    prompt stays wrong. It sees changes only: a step in the error rate from p0 to p1 lifts the
    signal to at most (p1 - p0)(1 - short/long), just `short` calls after the change, and leaves
    it at 0 from `long` calls on. A threshold above that peak makes it blind.

    The change point is the start of the short window, or of the present prompt where that is later.

    Args:
        short: How many of the last calls make the present mean.
        long: How many of the last calls make the mean that it is held against.
        threshold: How much the present mean must exceed the other.

    Examples:
        >>> gate = DerivativeGate(short=2, long=4, threshold=0.5)
        >>> [gate.decide(error).opened for error in (0.0, 0.0, 1.0, 1.0, 1.0, 1.0)]
        [False, False, False, True, False, False]
    """

    short: int = 3
    long: int = 10
    threshold: float = 0.3
    _now: deque[float] = field(init=False, repr=False)
    _before: deque[float] = field(init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _start: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("short", self.short, at_least=1)
        if self.long <= self.short:
            raise ParameterError(
                f"long must be above short, not {self.long!r} with short {self.short!r}"
            )
        peak = 1 - self.short / self.long
        check_range("threshold", self.threshold, above=0, at_most=peak)
        self._now = deque(maxlen=self.short)
        self._before = deque(maxlen=self.long)

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._now.append(error)
        self._before.append(error)
        self._calls += 1
        now = sum(self._now) / len(self._now)
        before = sum(self._before) / len(self._before)
        rise = now - before
        return Decision(
            opened=rise >= self.threshold - SLACK,
            signal=rise,
            terms={"d": rise, "short": now, "long": before, "threshold": self.threshold},
            change_point=max(self._calls - self.short, self._start) if rise > SLACK else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        if changed:
            self._start = self._calls
