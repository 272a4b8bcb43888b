"""The DDM gate: an error rate that has risen well above the lowest it ever was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from learnloop.control.ranges import check_error, check_range
from learnloop.control.river_detectors import WarningDetector, make_detector
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class DDMGate:
    """Opens when river's DDM finds the error rate some deviations above its minimum.

    A baseline from stream mining (Gama and others, Learning with Drift Detection, SBIA 2004): with
    p the share of errors since the last reset and s its standard deviation, it opens where p + s
    exceeds the least p plus `drift_threshold` times the least s. The signal is 1 at a detection.
    The change point is the call at which the warning began that led to it. A reset starts the
    detector afresh. Needs the extra `drift`.

    Args:
        warm_start: How many calls there are before the first test.
        warning_threshold: Deviations that warn.
        drift_threshold: Deviations that open.

    Examples:
        >>> gate = DDMGate(warm_start=5)
        >>> [gate.decide(float(call >= 8)).opened for call in range(9)].index(True)
        8
    """

    warm_start: int = 30
    warning_threshold: float = 2.0
    drift_threshold: float = 3.0
    _detector: WarningDetector = field(init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("warm_start", self.warm_start, at_least=1)
        check_range("warning_threshold", self.warning_threshold, above=0)
        check_range("drift_threshold", self.drift_threshold, at_least=self.warning_threshold)
        self.reset()

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._detector.update(error)
        self._calls += 1
        opened, warned = self._detector.drift_detected, self._detector.warning_detected
        since = self._since
        if not warned:
            self._since = self._calls
        return Decision(
            opened=opened,
            signal=float(opened),
            terms={"warning": float(warned), "threshold": 1.0},
            change_point=since if opened or warned else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        made = make_detector(
            "DDM",
            warm_start=self.warm_start,
            warning_threshold=self.warning_threshold,
            drift_threshold=self.drift_threshold,
        )
        self._detector = cast(WarningDetector, made)
