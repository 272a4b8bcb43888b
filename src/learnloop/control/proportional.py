"""The P gate: the present error alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class ProportionalGate:
    """Opens whenever the present error reaches the threshold.

    With right-or-wrong errors it is the CUSUM gate with threshold 1, so at an error rate of p it
    opens every 1/p calls. The change point of an opening is the call itself.

    Args:
        threshold: The smallest error that opens; the dead band of a graded error ends there.

    Examples:
        >>> gate = ProportionalGate(threshold=0.5)
        >>> [gate.decide(error).opened for error in (0.0, 0.4, 0.5, 1.0)]
        [False, False, True, True]
    """

    threshold: float = 0.5
    _calls: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, above=0, at_most=1)

    def decide(self, error: float) -> Decision:
        check_error(error)
        opened = error >= self.threshold - SLACK
        call = self._calls
        self._calls = call + 1
        return Decision(
            opened=opened,
            signal=error,
            terms={"p": error, "threshold": self.threshold},
            change_point=call if opened else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        pass
