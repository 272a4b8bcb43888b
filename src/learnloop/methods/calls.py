"""How many model calls a method will make on a stream, and how long they are: before any is made.

A method class says so in `calls_a_stream(outlook, **params)`. Where the number does not depend on
what a model answers, the estimate is the number on record, as long as no call fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from learnloop.types import CallRole

WRONG_SHARE = 0.4
"""Of answers, in an expectation where the number of calls depends on it. A guess."""
WRITTEN_TOKENS = 150
"""What a model writes as a policy, a judgement or an edit, where no limit is lower. A guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of a stream before it begins.

    Attributes:
        length: Number of queries.
        judged: Whether every answer gets a verdict.
        explained: Whether comments on wrong answers may come.
        has_form: Whether the prompt of the task can be read without a model.
    """

    length: int
    judged: bool = True
    explained: bool = False
    has_form: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number that is known, or between two others; `at_most` is `None` where nobody knows.

    Examples:
        >>> exactly(3) + Span(at_least=0, expected=2, at_most=4)
        Span(at_least=3, expected=5, at_most=7)
    """

    at_least: int
    expected: int
    at_most: int | None

    @property
    def exact(self) -> bool:
        """Whether there is one possible number only."""
        return self.at_least == self.at_most

    def __add__(self, other: Span) -> Span:
        most = None
        if self.at_most is not None and other.at_most is not None:
            most = self.at_most + other.at_most
        return Span(
            at_least=self.at_least + other.at_least,
            expected=self.expected + other.expected,
            at_most=most,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKind:
    """Calls of a stream that are alike.

    Attributes:
        role: What for.
        count: How many.
        max_tokens: Limit on what each writes.
        episodes: How many past episodes each is shown, once memory has as many.
        learnt: Tokens of learnt text that each is shown besides.
        asks: Whether each holds the query with its context.
        writes: Tokens that each writes, about; `None` for an answer and nothing else.
    """

    role: CallRole
    count: Span
    max_tokens: int
    episodes: int = 0
    learnt: int = 0
    asks: bool = True
    writes: int | None = None


class Estimates(Protocol):
    """What a method class offers that knows its calls."""

    def calls_a_stream(self, outlook: Outlook, **params: object) -> Sequence[CallKind]:
        """Return the calls of a stream, with `params` as for `from_parts`."""
        ...


def exactly(count: int) -> Span:
    """Return a number that is known."""
    return Span(at_least=count, expected=count, at_most=count)


def up_to(most: int, *, expected: float) -> Span:
    """Return a number of which only the limit is known."""
    return Span(at_least=0, expected=min(round(expected), most), at_most=most)


def one_answer_each(
    outlook: Outlook,
    *,
    max_tokens: int,
    episodes: int = 0,
    learnt: int = 0,
    reasoning: bool = False,
) -> CallKind:
    """Return the answering calls of a method that makes one a query."""
    return CallKind(
        role="answer",
        count=exactly(outlook.length),
        max_tokens=max_tokens,
        episodes=episodes,
        learnt=learnt,
        writes=written(max_tokens) if reasoning else None,
    )


def written(limit: int) -> int:
    """Return about how many tokens a model writes where it may write as many as the limit.

    Examples:
        >>> written(80), written(1024)
        (80, 150)
    """
    return min(limit, WRITTEN_TOKENS)
