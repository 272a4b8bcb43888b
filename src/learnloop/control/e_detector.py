"""The e-detector gate: a bet against the claim that errors are rare enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class EDetectorGate:
    """Opens when a bet that there is more error than is tolerated has multiplied its stake.

    M = max(M, 1) * (1 + bet * (e - tolerated)), and it opens at M >= gamma. As long as the mean of
    the next error, given all before, is at most `tolerated`, the mean run to a false alarm is at
    least gamma, whatever the distribution: the only gate here with such a guarantee, also for
    graded errors (Shin, Ramdas and Rinaldo, E-detectors, New England Journal of Statistics in Data
    Science 2, 2024). The signal is log M, which does not overflow.

    The change point is the call after the last one that left M at 1 or below. A reset gives the
    stake back, but where the prompt was kept the suspicion still dates from where it began.

    Args:
        tolerated: The largest mean error that is no reason to edit.
        bet: Share of the stake that is bet, above 0 and below 1/tolerated.
        gamma: What the stake must have grown to.

    Examples:
        >>> gate = EDetectorGate()
        >>> [gate.decide(1.0).opened for _ in range(4)]
        [False, False, False, True]
    """

    tolerated: float = 0.3
    bet: float = 1.4
    gamma: float = 10.0
    _log_stake: float = field(default=0.0, init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("tolerated", self.tolerated, above=0, below=1)
        check_range("bet", self.bet, above=0, below=1 / self.tolerated)
        check_range("gamma", self.gamma, above=1)

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._calls += 1
        gain = math.log1p(self.bet * (error - self.tolerated))
        total = max(self._log_stake, 0.0) + gain
        self._log_stake = total
        if total <= SLACK:
            self._since = self._calls
        threshold = math.log(self.gamma)
        return Decision(
            opened=total >= threshold - SLACK,
            signal=total,
            terms={"log_m": total, "gain": gain, "threshold": threshold},
            change_point=self._since if total > SLACK else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._log_stake = 0.0
        if changed:
            self._since = self._calls
