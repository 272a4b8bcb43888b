"""Asks again after a failure that may pass; the one place where that is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import tenacity

from learnloop.errors import (
    ModelConnectionError,
    ModelServerError,
    ModelTimeoutError,
    RateLimitError,
)
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options, Reply

PASSING = (ModelConnectionError, ModelTimeoutError, RateLimitError, ModelServerError)


class Retrying:
    """Tries a call up to `attempts` times, waiting twice as long each time.

    Where the server says how long to wait, that is kept to; where it asks for more than
    `longest_wait` seconds, the call fails at once. What cannot pass (a refused request, messages
    that are too long, an unreadable reply) is not tried again. The last error is the one raised.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        attempts: int = 5,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.attempts = attempts
        self.first_wait = first_wait
        self.longest_wait = longest_wait
        self.sleep = sleep
        self._backoff = tenacity.wait_exponential(multiplier=first_wait, max=longest_wait)

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._may_pass),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            sleep=self.sleep,
            reraise=True,
        )
        return attempts(self.model.complete, messages, options=options)

    def _may_pass(self, error: BaseException) -> bool:
        return isinstance(error, PASSING) and (_asked_wait(error) or 0.0) <= self.longest_wait

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = _asked_wait(error)
        return self._backoff(state) if asked is None else asked


def _asked_wait(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, RateLimitError) else None
