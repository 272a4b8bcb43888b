"""Guards: what has to hold besides the gate before an editor is called."""

from __future__ import annotations

from dataclasses import replace

from learnloop.control.ranges import SLACK
from learnloop.errors import EditingError, ParameterError
from learnloop.protocols import Gate
from learnloop.types import NO_BUDGET, Decision


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
        """Count the calls of one edit.

        Raises:
            EditingError: It took more than was reserved for it.
        """
        if calls < 0:
            raise ParameterError(f"an edit takes at least 0 calls, not {calls!r}")
        self.used += calls
        if calls > self.reserve:
            raise EditingError(
                f"the editor took {calls} calls and had said that {self.reserve} are the most; "
                "its max_calls must be right for the budget to hold"
            )


class Guarded:
    """Lets a gate open only where the budget allows it, after an error, and not too soon.

    An opening needs an error since the last reset, more than `pause` steps since then, and an
    affordable edit. A reset follows every edit, rollback and recall, so all three begin a pause.
    With `max_interval`, the gate opens of itself so many steps after a reset, under the same
    conditions.

    Held openings: a gate that is still at its threshold opens when nothing holds it any more,
    also one that reports each crossing once. What held it is a term of the decision, 1 where it
    did: `no_error`, `paused`, or where all else was fulfilled `no_budget`; `overdue` and `owed`
    are 1 where the interval, or an opening that was held before, opened it.

    Source: eligibility in PID-gated continual prompt adaptation; pauses between events as in
    event-triggered control (Tabuada 2007), the longest interval as in Årzén 1999.

    Args:
        gate: Decides.
        calls: The budget.
        pause: Steps after a reset in which nothing is edited.
        max_interval: Steps without a reset after which the gate opens; `None` for never.
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
        self._steps = 0
        self._since_pause = pause
        self._errors = 0.0
        self._owed = False

    def decide(self, error: float) -> Decision:
        decision = self.gate.decide(error)
        self._errors += error
        self._steps += 1
        self._since_pause += 1
        self._owed = decision.opened or (self._owed and _at_threshold(decision))
        reason = self._reason(decision)
        if reason is None:
            return decision
        held = self._held()
        if held is not None:
            return replace(decision, opened=False, terms={**decision.terms, held: 1.0})
        if decision.opened:
            return decision
        return replace(decision, opened=True, terms={**decision.terms, reason: 1.0})

    def reset(self, *, changed: bool = True) -> None:
        self.gate.reset(changed=changed)
        self._errors = 0.0
        self._steps = self._since_pause = 0
        self._owed = False

    def _reason(self, decision: Decision) -> str | None:
        """Return why to open, `None` where there is no reason."""
        if self._owed:
            return "opened" if decision.opened else "owed"
        overdue = self.max_interval is not None and self._steps >= self.max_interval
        return "overdue" if overdue else None

    def _held(self) -> str | None:
        """Return what holds an opening, `None` where nothing does."""
        if self.needs_error and self._errors <= 0:
            return "no_error"
        if self._since_pause <= self.pause:
            return "paused"
        return None if self.calls.affordable else NO_BUDGET


def _at_threshold(decision: Decision) -> bool:
    threshold = decision.terms.get("threshold")
    return threshold is not None and decision.signal >= threshold - SLACK
