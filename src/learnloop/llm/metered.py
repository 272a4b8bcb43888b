"""The ledger: every model call of a run, and the limits that none may pass."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from learnloop.errors import BudgetError, LanguageModelError
from learnloop.protocols import LanguageModel
from learnloop.types import Call, Message, Options, Reply, Usage

TOKENS_A_MESSAGE = 16
"""What a chat template may add to a message, at most."""


class Ledger:
    """An append-only list of calls. Safe to use from several threads.

    Before a call the most that it can take is reserved, after it what it took is entered. A call
    that was read from the response cache is entered but counts for no limit.

    Args:
        max_calls: Most calls, failed ones included.
        max_tokens: Most tokens, read and written together.

    Examples:
        >>> ledger = Ledger(max_calls=1)
        >>> ledger.reserve(tokens=10)
        >>> ledger.settle(Call(role="answer", model="m", usage=Usage(tokens_out=3)), tokens=10)
        >>> len(ledger), ledger.tokens
        (1, 3)
        >>> ledger.reserve(tokens=10)
        Traceback (most recent call last):
        ...
        learnloop.errors.BudgetError: the next call would pass max_calls = 1 (made: 1)
    """

    def __init__(self, *, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self._rows: list[Call] = []
        self._made = 0
        self._tokens = 0
        self._drained = 0
        self._open: list[int] = []
        self._lock = threading.Lock()

    @property
    def tokens(self) -> int:
        """Tokens read and written so far, those of replayed calls left out."""
        return self._tokens

    def reserve(self, *, tokens: int) -> None:
        """Set aside one call of at most `tokens`.

        Raises:
            BudgetError: It could pass a limit. Nothing is set aside.
        """
        with self._lock:
            calls = self._made + len(self._open) + 1
            total = self._tokens + sum(self._open) + tokens
            if self.max_calls is not None and calls > self.max_calls:
                raise BudgetError(
                    f"the next call would pass max_calls = {self.max_calls} (made: {self._made})"
                )
            if self.max_tokens is not None and total > self.max_tokens:
                raise BudgetError(
                    f"the next call may take {tokens} tokens and would pass max_tokens = "
                    f"{self.max_tokens} (used: {self._tokens})"
                )
            self._open.append(tokens)

    def settle(self, call: Call, *, tokens: int) -> None:
        """Enter a call, and give back the `tokens` that were reserved for it."""
        with self._lock:
            self._open.remove(tokens)
            self._rows.append(call)
            if not call.replayed:
                self._made += 1
                self._tokens += call.usage.tokens_in + call.usage.tokens_out

    def release(self, *, tokens: int) -> None:
        """Give back a reservation for a call that was never made."""
        with self._lock:
            self._open.remove(tokens)

    def since(self, mark: int) -> tuple[Call, ...]:
        """Return the rows from number `mark` on; `len(ledger)` is the mark for what comes next."""
        with self._lock:
            return tuple(self._rows[mark:])

    def drain(self) -> tuple[Call, ...]:
        """Return the rows since the last time, in the order they were entered. None is removed."""
        with self._lock:
            rows = tuple(self._rows[self._drained :])
            self._drained = len(self._rows)
            return rows

    def __len__(self) -> int:
        return len(self._rows)


class Metered:
    """Enters every call into a ledger. The outermost wrapper, so that replayed calls count too."""

    def __init__(self, model: LanguageModel, ledger: Ledger) -> None:
        self.model = model
        self.ledger = ledger

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        tokens = worst_case_tokens(messages, options)
        self.ledger.reserve(tokens=tokens)
        call: Call | None = None
        try:
            reply = self.model.complete(messages, options=options)
            call = self._row(options, reply.usage, replayed=reply.replayed)
        except LanguageModelError as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            call = self._row(options, Usage(), error=words)
            raise
        finally:
            if call is None:
                self.ledger.release(tokens=tokens)
            else:
                self.ledger.settle(call, tokens=tokens)
        return reply

    def _row(
        self, options: Options, usage: Usage, *, error: str | None = None, replayed: bool = False
    ) -> Call:
        return Call(role=options.role, model=self.name, usage=usage, error=error, replayed=replayed)


def worst_case_tokens(messages: Sequence[Message], options: Options) -> int:
    """Return the most tokens that a call can take: a token is at least one byte of text.

    Examples:
        >>> worst_case_tokens([Message(role="user", content="Hi")], Options(max_tokens=100))
        118
    """
    read = sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    schema = len(json.dumps(options.schema)) if options.schema is not None else 0
    return read + TOKENS_A_MESSAGE * len(messages) + schema + options.max_tokens
