"""The model as gepa calls it: never more often than allowed, and no failure of it gets lost."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from learnloop.errors import EditingError, LanguageModelError
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options


class FirstError:
    """Keeps the first error that passes through it, for whoever is above may swallow it."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.error = self.error or error

    def surface(self) -> None:
        """Raise what was kept, if anything was.

        Raises:
            EditingError: It was a failed call. Any other error is raised as it is.
        """
        if isinstance(self.error, LanguageModelError):
            raise EditingError(f"a reflection's call failed: {self.error}") from self.error
        if self.error is not None:
            raise self.error


class Reflector:
    """Takes a text and gives the model's. gepa may swallow an error and call again: in vain.

    Args:
        model: Reflects.
        system: Said before each message, the same each time.
        options: How a call is made, by its number from 0.
        limit: Calls that may be made, failed ones included.
        kept: Where a failure is kept; after one there are no more calls.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        system: str,
        options: Callable[[int], Options],
        limit: int,
        kept: FirstError,
    ) -> None:
        self.model = model
        self.system = system
        self.options = options
        self.limit = limit
        self.kept = kept
        self.calls = 0

    @property
    def done(self) -> bool:
        """Whether no more may be asked."""
        return self.calls >= self.limit or self.kept.error is not None

    def __call__(self, message: str | list[dict[str, Any]]) -> str:
        if self.done:
            raise EditingError(f"no reflection after {self.calls}, or after a failure")
        self.calls += 1
        with self.kept:
            messages = (
                Message(role="system", content=self.system),
                Message(role="user", content=_plain(message)),
            )
            return self.model.complete(messages, options=self.options(self.calls - 1)).text


def _plain(message: str | list[dict[str, Any]]) -> str:
    if not isinstance(message, str):
        raise EditingError(f"gepa sends a message that is no text: {message!r:.80}")
    return message
