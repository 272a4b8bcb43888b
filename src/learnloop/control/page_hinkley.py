"""The Page-Hinkley gate: deviations from the running mean, summed since their lowest sum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from learnloop.control.ranges import check_error, check_range
from learnloop.control.river_detectors import Detector, make_detector
from learnloop.errors import ParameterError
from learnloop.types import Decision

MODES = ("up", "down", "both")


@dataclass(slots=True, kw_only=True, eq=False)
class PageHinkleyGate:
    """Opens when river's PageHinkley detects a change of the mean error.

    A baseline from stream mining (Page, Biometrika 41, 1954; Hinkley, Biometrika 58, 1971), with
    the running mean in the place of a set-point, so errors after a change raise what they are
    held against. The signal is 1 at a detection; there is no estimate of a change point. A reset
    starts the detector afresh. Needs the extra `drift`.

    Args:
        min_instances: How many calls there are before the first test.
        delta: Deviation that is tolerated at each call.
        threshold: Sum of deviations above which it opens.
        alpha: What is left of the sum after one call, above 0 and at most 1.
        mode: Whether a rise of the mean opens (`up`), a fall (`down`), or `both`.

    Examples:
        >>> gate = PageHinkleyGate(min_instances=5, delta=0.25, threshold=2.0, mode="up")
        >>> [gate.decide(float(call >= 30)).opened for call in range(60)].index(True)
        32
    """

    min_instances: int = 30
    delta: float = 0.005
    threshold: float = 50.0
    alpha: float = 0.9999
    mode: str = "up"
    _detector: Detector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("min_instances", self.min_instances, at_least=1)
        check_range("delta", self.delta, at_least=0, below=1)
        check_range("threshold", self.threshold, above=0)
        check_range("alpha", self.alpha, above=0, at_most=1)
        if self.mode not in MODES:
            raise ParameterError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        self.reset()

    def decide(self, error: float) -> Decision:
        check_error(error)
        self._detector.update(error)
        opened = self._detector.drift_detected
        return Decision(
            opened=opened,
            signal=float(opened),
            terms={"detected": float(opened), "threshold": 1.0},
        )

    def reset(self, *, changed: bool = True) -> None:
        made = make_detector(
            "PageHinkley",
            min_instances=self.min_instances,
            delta=self.delta,
            threshold=self.threshold,
            alpha=self.alpha,
            mode=self.mode,
        )
        self._detector = cast(Detector, made)
