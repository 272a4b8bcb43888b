"""The CUSUM gate that learns the noise from the excursions that came to nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class AdaptiveCUSUMGate:
    """Opens when the log-likelihood for a stale prompt, at the noise learned so far, is log(gamma).

    S = max(0, S + (2e - 1) log((1 - eta) / eta)), where eta is the share of errors among those
    that were absorbed, on top of a prior, and kept between `floor` and `ceiling`. Errors are
    absorbed only when S is back at 0, which shows that they were noise; those that lead to an
    opening never are, so a change does not pass for noise. With eta known it is the CUSUM gate,
    whose mean run to a false alarm is at least gamma (Lorden, Annals of Mathematical Statistics
    42, 1971); with eta learned that is approximate.

    The change point is the call after the last one that left S at 0. A reset empties S, keeps eta,
    and where the prompt was kept the suspicion still dates from where it began.

    Args:
        gamma: Mean number of calls to a false alarm that is aimed at.
        prior_errors: Errors absorbed before the first call.
        prior_right: Right answers absorbed before the first call.
        floor: The least noise that is ever believed in.
        ceiling: The most, below 1/2.

    Examples:
        >>> gate = AdaptiveCUSUMGate(gamma=50)
        >>> [gate.decide(error).opened for error in (0.0, 0.0, 1.0, 1.0)]
        [False, False, False, True]
        >>> round(gate.decide(1.0).terms["eta"], 3)
        0.083
    """

    gamma: float = 100.0
    prior_errors: float = 1.0
    prior_right: float = 9.0
    floor: float = 0.01
    ceiling: float = 0.45
    _sum: float = field(default=0.0, init=False, repr=False)
    _errors: float = field(init=False, repr=False)
    _samples: float = field(init=False, repr=False)
    _open_errors: float = field(default=0.0, init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)
    _pending: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("gamma", self.gamma, above=1)
        check_range("prior_errors", self.prior_errors, above=0)
        check_range("prior_right", self.prior_right, above=0)
        check_range("floor", self.floor, above=0, below=0.5)
        check_range("ceiling", self.ceiling, at_least=self.floor, below=0.5)
        self._errors = self.prior_errors
        self._samples = self.prior_errors + self.prior_right

    def decide(self, error: float) -> Decision:
        check_error(error)
        eta = min(max(self._errors / self._samples, self.floor), self.ceiling)
        self._calls += 1
        self._pending += 1
        self._open_errors += error
        self._sum += (2.0 * error - 1.0) * math.log((1.0 - eta) / eta)
        if self._sum <= SLACK:
            self._absorb()
        total, threshold = self._sum, math.log(self.gamma)
        return Decision(
            opened=total >= threshold - SLACK,
            signal=total,
            terms={"s": total, "eta": eta, "threshold": threshold},
            change_point=self._since if total else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._sum = 0.0
        self._open_errors = 0.0
        self._pending = 0
        if changed:
            self._since = self._calls

    def _absorb(self) -> None:
        """Take the excursion that has just come back to 0 for noise."""
        self._errors += self._open_errors
        self._samples += self._pending
        self._sum = 0.0
        self._open_errors = 0.0
        self._pending = 0
        self._since = self._calls
