"""The gate that never opens: what a prompt is worth that nobody edits."""

from __future__ import annotations

from dataclasses import dataclass

from learnloop.control.ranges import check_error
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class NeverGate:
    """Never opens, whatever the errors are.

    Examples:
        >>> NeverGate().decide(1.0).opened
        False
    """

    def decide(self, error: float) -> Decision:
        check_error(error)
        return Decision(opened=False, signal=0.0, terms={})

    def reset(self, *, changed: bool = True) -> None:
        pass
