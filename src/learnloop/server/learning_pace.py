"""How fast a task may learn: calls in an hour and in all, and a pause after each failure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from learnloop.server.config import Learning
from learnloop.server.storage.feedback_log import LoggedFeedback

HOUR = 3600.0
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong with a feedback, and when, as ISO 8601."""

    feedback_id: str
    error: str
    at: str


class Pace:
    """What one task has spent, and when it may go on.

    Args:
        limits: What it may spend.
        clock: Seconds.

    Examples:
        >>> pace = Pace(Learning(calls_per_hour=2), clock=lambda: 0.0)
        >>> pace.spent(2)
        >>> pace.why_not(calls=2), pace.wait
        ('2 calls an hour are spent', 3600.0)
    """

    def __init__(self, limits: Learning, *, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.clock = clock
        self.failure: Failure | None = None
        self._calls: deque[float] = deque()
        self._tries: Counter[str] = Counter()
        self._failed = 0
        self._paused_until = clock()

    @property
    def wait(self) -> float:
        """Seconds until learning may go on, 0 where it may now."""
        now = self.clock()
        self._forget(now)
        free = self._calls[-self.limits.calls_per_hour] + HOUR if self._hour_is_spent() else now
        return max(0.0, self._paused_until - now, free - now)

    def why_not(self, *, calls: int) -> str:
        """Say why learning has to wait, `""` where it need not.

        Args:
            calls: How many were made ever.
        """
        limits = self.limits
        self._forget(self.clock())
        if not limits.enabled:
            return "learning is switched off"
        if limits.calls_per_hour == 0 or self._hour_is_spent():
            return f"{limits.calls_per_hour} calls an hour are spent"
        if limits.max_calls is not None and calls >= limits.max_calls:
            return f"all {limits.max_calls} calls are spent"
        return "paused after a failure" if self._paused_until > self.clock() else ""

    def spent(self, calls: int) -> None:
        """Take note of calls that were made just now."""
        self._calls.extend([self.clock()] * calls)

    def failed(self, failure: Failure) -> None:
        """Pause, longer each time, and let other feedback go first."""
        self.failure = failure
        self._tries[failure.feedback_id] += 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failed, 16))
        self._failed += 1
        self._paused_until = self.clock() + pause

    def succeeded(self, feedback_id: str) -> None:
        """Go on without a pause."""
        self._tries.pop(feedback_id, None)
        self._failed = 0
        self._paused_until = self.clock()
        self.failure = None

    def choose(self, waiting: Sequence[LoggedFeedback]) -> LoggedFeedback | None:
        """Return the oldest of the feedback that failed least often."""
        return min(waiting, key=lambda each: self._tries[each.feedback.id], default=None)

    def _hour_is_spent(self) -> bool:
        return 0 < self.limits.calls_per_hour <= len(self._calls)

    def _forget(self, now: float) -> None:
        while self._calls and self._calls[0] <= now - HOUR:
            self._calls.popleft()
