"""Limits on what a run, or a whole study, may spend; checked between steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock

from learnloop.errors import ParameterError
from learnloop.records.schema import StepRecord, StepTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much may be spent; `None` is no limit. Tokens are those read and written.

    Calls answered from the response cache cost nothing and count for nothing.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_calls", "max_tokens", "max_seconds"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ParameterError(f"{name} must be positive, got {value!r}")


class Spending:
    """Counts what is spent against a budget. May be shared by the runs of a study.

    Examples:
        >>> spending = Spending(Budget(max_seconds=60), clock=lambda: 0.0)
        >>> spending.why_stop() is None
        True
        >>> spending.ask_to_stop("stopped by the user")
        >>> spending.why_stop()
        'stopped by the user'
    """

    def __init__(self, budget: Budget, *, clock: Callable[[], float]) -> None:
        self.budget = budget
        self.clock = clock
        self._began = clock()
        self._lock = Lock()
        self._calls = 0
        self._tokens = 0
        self._asked = Event()
        self._reason = ""

    def add(self, record: StepRecord, timing: StepTiming) -> None:
        """Count one step."""
        pairs = zip(record.calls, timing.calls, strict=True)
        made = [call for call, timed in pairs if not timed.replayed]
        with self._lock:
            self._calls += len(made)
            self._tokens += sum(call.tokens_in + call.tokens_out for call in made)

    def ask_to_stop(self, reason: str) -> None:
        """Stop every run at its next step boundary."""
        self._reason = reason
        self._asked.set()

    def why_stop(self) -> str | None:
        """Return why no further step may begin, or `None` where one may."""
        if self._asked.is_set():
            return self._reason
        spent = {
            "max_calls": self._calls,
            "max_tokens": self._tokens,
            "max_seconds": self.clock() - self._began,
        }
        for name, value in spent.items():
            limit = getattr(self.budget, name)
            if limit is not None and value >= limit:
                return f"budget spent: {name} = {limit:g}, used {value:.7g}"
        return None
