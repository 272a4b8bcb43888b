"""Guards: what has to hold besides the gate before an editor is called."""

from __future__ import annotations

from dataclasses import replace

from learnloop.errors import ParameterError
from learnloop.protocols import Gate
from learnloop.types import Decision


class Calls:
    """Counts the calls of edits against a limit, and reserves the worst case of one edit.

    Args:
        limit: Calls that may be made in all; `None` for no limit.
        reserve: Calls that one edit takes at most.

    Examples:
        >>> calls = Calls(limit=4, reserve=3)
        >>> calls.affordable
        True
        >>> calls.settle(2)
        >>> calls.affordable
        False
    """

    def __init__(self, *, limit: int | None, reserve: int = 1) -> None:
        if limit is not None and limit < 0:
            raise ParameterError(f"the budget of calls is at least 0, not {limit!r}")
        if reserve < 0:
            raise ParameterError(f"calls to reserve are at least 0, not {reserve!r}")
        self.limit = limit
        self.reserve = reserve
        self.used = 0

    @property
    def affordable(self) -> bool:
        """Whether one more edit fits under the limit, whatever it takes."""
        return self.limit is None or self.used + self.reserve <= self.limit

    def settle(self, calls: int) -> None:
        self.used += calls


class Guarded:
    """Lets a gate open only where the budget allows it, after an error, and not too soon.

    An opening needs an affordable edit, at least one error since the last reset, and more than
    `pause` steps since then. With `max_interval`, the gate opens of itself after so many steps
    without an edit, under the same conditions. A guard that held the gate is a term of the
    decision, 1 where it did: `no_budget`, `no_error`, `paused`; `overdue` where it opened it.

    Source: eligibility in PID-gated continual prompt adaptation; pauses between events as in
    event-triggered control (Tabuada 2007), the longest interval as in Årzén 1999.

    Args:
        gate: Decides.
        calls: The budget.
        pause: Steps after a reset in which nothing is edited.
        max_interval: Steps without an edit after which the gate opens; `None` for never.
        needs_error: Whether an edit needs an error since the last reset.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        calls: Calls,
        pause: int = 0,
        max_interval: int | None = None,
        needs_error: bool = True,
    ) -> None:
        if pause < 0:
            raise ParameterError(f"pause is a number of steps, at least 0, not {pause!r}")
        if max_interval is not None and max_interval <= pause:
            raise ParameterError(
                f"max_interval must be longer than the pause of {pause}, not {max_interval!r}"
            )
        self.gate = gate
        self.calls = calls
        self.pause = pause
        self.max_interval = max_interval
        self.needs_error = needs_error
        self._steps = pause
        self._errors = 0.0
        self._since_reset = 0

    def decide(self, error: float) -> Decision:
        decision = self.gate.decide(error)
        self._errors += error
        self._steps += 1
        self._since_reset += 1
        overdue = self.max_interval is not None and self._since_reset >= self.max_interval
        if not (decision.opened or overdue):
            return decision
        held = self._held()
        if held is not None:
            return replace(decision, opened=False, terms={**decision.terms, held: 1.0})
        if decision.opened:
            return decision
        return replace(decision, opened=True, terms={**decision.terms, "overdue": 1.0})

    def reset(self, *, changed: bool = True) -> None:
        self.gate.reset(changed=changed)
        self._errors = 0.0
        self._steps = 0
        self._since_reset = 0

    def _held(self) -> str | None:
        if not self.calls.affordable:
            return "no_budget"
        if self.needs_error and self._errors <= 0:
            return "no_error"
        return "paused" if self._steps <= self.pause else None
