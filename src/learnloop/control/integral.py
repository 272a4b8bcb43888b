"""The I gate over a window: how much error there was lately."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class IntegralGate:
    """Opens when the errors of the last calls since the last reset sum up to the threshold.

    The change point is the first call in the window whose error was above 0.

    Args:
        window: How many of the last calls count.
        threshold: The sum that opens.

    Examples:
        >>> gate = IntegralGate(window=4, threshold=2.0)
        >>> [gate.decide(error).opened for error in (1.0, 0.0, 0.0, 0.0, 1.0, 1.0)]
        [False, False, False, False, False, True]
    """

    window: int = 8
    threshold: float = 3.0
    _errors: deque[float] = field(init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("window", self.window, at_least=1)
        check_range("threshold", self.threshold, above=0)
        if self.threshold > self.window:
            raise ParameterError(
                f"threshold {self.threshold!r} is more than a window of {self.window!r} errors can "
                "sum up to; lower it or widen the window"
            )
        self._errors = deque(maxlen=self.window)

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._errors.append(error)
        self._calls += 1
        total = sum(self._errors)
        return Decision(
            opened=total >= self.threshold - SLACK,
            signal=total,
            terms={"i": total, "threshold": self.threshold},
            change_point=self._first_error() if total > 0 else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._errors.clear()

    def _first_error(self) -> int:
        start = self._calls - len(self._errors)
        return start + next(i for i, error in enumerate(self._errors) if error > 0)
