"""The ADWIN gate: two parts of a window that differ more than chance explains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from learnloop.control.ranges import check_error, check_range
from learnloop.control.river_detectors import WindowDetector, make_detector
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class ADWINGate:
    """Opens when river's ADWIN detects a change in the error rate, up or down.

    A baseline from stream mining (Bifet and Gavalda, SIAM International Conference on Data Mining,
    2007), made for streams of thousands; on a stream of a hundred its defaults hardly ever open.
    The signal is 1 at a detection. The detector then drops only its oldest errors, so its window
    says little of when the change was, and there is no change point. A reset starts the detector
    afresh. Needs the extra `drift`.

    Args:
        delta: Risk of a false alarm at one test, above 0 and below 1.
        clock: How many calls there are from one test to the next.
        grace_period: How many calls there are before the first test.

    Examples:
        >>> gate = ADWINGate(delta=0.05, clock=1)
        >>> opened = [gate.decide(float(call >= 60)).opened for call in range(120)]
        >>> 60 <= opened.index(True) < 75
        True
    """

    delta: float = 0.002
    clock: int = 32
    grace_period: int = 10
    _detector: WindowDetector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("delta", self.delta, above=0, below=1)
        check_range("clock", self.clock, at_least=1)
        check_range("grace_period", self.grace_period, at_least=1)
        self.reset()

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._detector.update(error)
        opened = self._detector.drift_detected
        return Decision(
            opened=opened,
            signal=float(opened),
            terms={
                "mean": self._detector.estimation,
                "width": self._detector.width,
                "threshold": 1.0,
            },
        )

    def reset(self, *, changed: bool = True) -> None:
        made = make_detector(
            "ADWIN", delta=self.delta, clock=self.clock, grace_period=self.grace_period
        )
        self._detector = cast(WindowDetector, made)
