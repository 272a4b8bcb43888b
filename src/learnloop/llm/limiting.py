"""Keeps calls to one endpoint below the rate that it bears, which it finds out by being refused.

Additive increase, multiplicative decrease: a refusal halves the rate, every answer raises it a
little. All runs that use the endpoint share one limiter.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from learnloop.errors import ParameterError, RateLimitError
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options, Reply

MINUTE = 60.0
RISE = 0.1
"""Calls a minute by which an answer raises the rate: back from half of any rate in 7 minutes."""
LEAST = 1.0
"""Calls a minute below which the rate never falls."""
LEAST_AT_FIRST = 10.0
"""Calls a minute after a first refusal: one of few calls says little about what is borne."""
FIRST_PAUSE = 5.0
"""Seconds of pause where an endpoint does not say how long; doubled while it goes on refusing."""
LONGEST_PAUSE = 60.0
_ROUNDING = 1e-6


class Limiter:
    """Spaces out calls, and holds all of them back while an endpoint wants none.

    As long as nothing was refused, no call waits, unless a rate was given. A call that began before
    the last cut of the rate says nothing new when it is refused, and does not cut it again.

    Args:
        calls_a_minute: The rate that is never passed; `None` where none is known.
        clock: In seconds.
        sleep: Waits for so many seconds.

    Examples:
        >>> limiter = Limiter(calls_a_minute=60, clock=lambda: 0.0, sleep=lambda seconds: None)
        >>> limiter.rate
        60
    """

    def __init__(
        self,
        *,
        calls_a_minute: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if calls_a_minute is not None and calls_a_minute < LEAST:
            raise ParameterError(
                f"calls_a_minute must be at least {LEAST:g}, got {calls_a_minute!r}"
            )
        self.calls_a_minute = calls_a_minute
        self.clock = clock
        self.sleep = sleep
        self._lock = threading.Lock()
        self._rate = calls_a_minute
        self._starts: deque[float] = deque()
        self._resume = float("-inf")
        self._pause = FIRST_PAUSE
        self._cuts = 0

    @property
    def rate(self) -> float | None:
        """Calls a minute that may begin; `None` while nothing is known against any number."""
        return self._rate

    def begin(self) -> int:
        """Wait until a call may begin; the number returned goes with what becomes of it."""
        while True:
            with self._lock:
                now = self.clock()
                wait = self._free_at() - now
                if wait <= _ROUNDING:
                    self._note_start(now)
                    return self._cuts
            self.sleep(wait)

    def answered(self) -> None:
        """Take in that a call was answered: the rate rises."""
        with self._lock:
            self._pause = FIRST_PAUSE
            if self._rate is not None:
                self._rate = min(self._rate + RISE, self.calls_a_minute or float("inf"))

    def refused(self, begun: int, *, retry_after: float | None) -> None:
        """Take in that a call was refused for there being too many: the rate is halved."""
        with self._lock:
            now = self.clock()
            first_to_say = begun == self._cuts
            if first_to_say:
                self._cuts += 1
                self._rate = self._halved()
            if retry_after is None and first_to_say:
                retry_after, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
            self._resume = max(self._resume, now + (retry_after or 0.0))

    def _halved(self) -> float:
        if self._rate is None:
            return max(len(self._starts) / 2, LEAST_AT_FIRST)
        return max(self._rate / 2, LEAST)

    def _free_at(self) -> float:
        if self._rate is None or not self._starts:
            return self._resume
        return max(self._resume, self._starts[-1] + MINUTE / self._rate)

    def _note_start(self, now: float) -> None:
        """Keep the starts of the last minute: what the rate was, should it prove too high."""
        self._starts.append(now)
        while self._starts[0] <= now - MINUTE:
            self._starts.popleft()


class Limited:
    """Has each call wait for its turn. Goes beneath the retries, so that each try has one."""

    def __init__(self, model: LanguageModel, limiter: Limiter) -> None:
        self.model = model
        self.limiter = limiter

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        begun = self.limiter.begin()
        try:
            reply = self.model.complete(messages, options=options)
        except RateLimitError as error:
            self.limiter.refused(begun, retry_after=error.retry_after)
            raise
        self.limiter.answered()
        return reply
