"""The I gate of control textbooks: a sum of errors with a set-point, a leak and a clamp."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class LeakyIntegralGate:
    """Opens when I = clip(leak * I + (e - setpoint), 0, limit) reaches the threshold.

    Without a set-point the sum would wind up on noise alone. The clamp is the anti-windup: however
    long the gate is held back (a pause, a spent budget), the sum falls as soon as the errors end.
    Without a leak and a limit the sum is (1 - setpoint) times that of the CUSUM gate.

    The change point is the call after the last one that left the sum at 0. A reset empties the sum,
    but where the prompt was kept the suspicion still dates from where it began.

    Args:
        leak: What is left of the sum after one call, above 0 and at most 1.
        setpoint: The mean error that is neutral.
        limit: The largest sum.
        threshold: The sum that opens.

    Examples:
        >>> gate = LeakyIntegralGate(limit=2.0, threshold=1.0)
        >>> [gate.decide(error).signal for error in (0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)]
        [0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 1.5]
    """

    leak: float = 1.0
    setpoint: float = 0.5
    limit: float = 3.0
    threshold: float = 1.5
    _sum: float = field(default=0.0, init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("leak", self.leak, above=0, at_most=1)
        check_range("setpoint", self.setpoint, at_least=0, below=1)
        check_range("limit", self.limit, above=0)
        check_range("threshold", self.threshold, above=0)
        highest = highest_sum(leak=self.leak, setpoint=self.setpoint, limit=self.limit)
        if self.threshold > highest:
            raise ParameterError(
                f"threshold {self.threshold!r} is never reached, the sum stays below {highest:g}; "
                "lower it, or raise leak or limit"
            )

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._calls += 1
        total = min(self.leak * self._sum + (error - self.setpoint), self.limit)
        if total <= SLACK:
            total = 0.0
            self._since = self._calls
        self._sum = total
        return Decision(
            opened=total >= self.threshold - SLACK,
            signal=total,
            terms={"i": total, "threshold": self.threshold},
            change_point=self._since if total else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._sum = 0.0
        if changed:
            self._since = self._calls


def highest_sum(*, leak: float, setpoint: float, limit: float) -> float:
    """Return what a leaky sum of nothing but errors tends to.

    Examples:
        >>> highest_sum(leak=0.75, setpoint=0.5, limit=10.0)
        2.0
        >>> highest_sum(leak=1.0, setpoint=0.5, limit=10.0)
        10.0
    """
    return limit if leak == 1 else min(limit, (1 - setpoint) / (1 - leak))
