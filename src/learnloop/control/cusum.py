"""The CUSUM gate: errors in excess of what noise explains, summed since they last vanished."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class CUSUMGate:
    """Opens when the excess of errors, counted from its last return to 0, reaches the threshold.

    S = max(0, S + (e - k) / (1 - k)), so an error adds 1 whatever the set-point k is, and at
    k = 1/2 a right answer takes 1 away: `threshold` is the number of net errors that opens. This
    is Page's test (Biometrika 41, 1954) divided by log(p1/p0): for an error rate that changes from
    p0 to p1, take k from `likelihood_setpoint` and the threshold log(gamma) / log(p1/p0). Noise
    that turns right into wrong as often as the reverse has p1 = 1 - p0 and k = 1/2, whatever its
    rate. Of all gates with as long a run without a false alarm this one has the least worst-case
    delay (Moustakides, Annals of Statistics 14, 1986). A graded error counts in proportion, so an
    error of k is neutral.

    The change point is the call after the last one that left the sum at 0. A reset empties the sum,
    but where the prompt was kept the suspicion still dates from where it began.

    Args:
        threshold: The excess that opens.
        setpoint: The mean error that is neutral.

    Examples:
        >>> gate = CUSUMGate(threshold=2.0)
        >>> [gate.decide(error).signal for error in (1.0, 0.0, 0.0, 1.0, 1.0)]
        [1.0, 0.0, 0.0, 1.0, 2.0]
        >>> gate.decide(1.0).change_point
        3
    """

    threshold: float = 3.0
    setpoint: float = 0.5
    _sum: float = field(default=0.0, init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, above=0)
        check_range("setpoint", self.setpoint, above=0, below=1)

    def decide(self, error: float) -> Decision:
        check_error(error)
        step = (error - self.setpoint) / (1.0 - self.setpoint)
        self._calls += 1
        self._sum += step
        if self._sum <= SLACK:
            self._sum = 0.0
            self._since = self._calls
        total = self._sum
        return Decision(
            opened=total >= self.threshold - SLACK,
            signal=total,
            terms={"s": total, "step": step, "threshold": self.threshold},
            change_point=self._since if total else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._sum = 0.0
        if changed:
            self._since = self._calls


def likelihood_setpoint(*, healthy: float, stale: float) -> float:
    """Return the set-point that makes the CUSUM of a right-or-wrong error that of its likelihood.

    Args:
        healthy: Error rate before the change.
        stale: Error rate after it, higher.

    Raises:
        ParameterError: The rates are not 0 < healthy < stale < 1.

    Examples:
        >>> round(likelihood_setpoint(healthy=0.2, stale=0.8), 6)
        0.5
        >>> round(likelihood_setpoint(healthy=0.05, stale=0.5), 3)
        0.218
    """
    check_range("healthy", healthy, above=0, below=1)
    check_range("stale", stale, above=healthy, below=1)
    right = math.log((1 - healthy) / (1 - stale))
    return right / (right + math.log(stale / healthy))
