"""The gate that opens by the clock, blind to errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.ranges import check_error, check_range
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class FixedGate:
    """Opens at every so-many-th error it is told, right or wrong. An edit does not shift its clock.

    It has no idea of when anything changed, so its decisions carry no change point.

    Args:
        every: How many calls there are from one opening to the next.

    Examples:
        >>> gate = FixedGate(every=3)
        >>> [gate.decide(0.0).opened for _ in range(6)]
        [False, False, True, False, False, True]
    """

    every: int = 15
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("every", self.every, at_least=1)

    def decide(self, error: float) -> Decision:
        check_error(error)
        since = self._since + 1
        opened = since >= self.every
        self._since = 0 if opened else since
        return Decision(
            opened=opened, signal=since, terms={"calls": since, "threshold": self.every}
        )

    def reset(self, *, changed: bool = True) -> None:
        pass
