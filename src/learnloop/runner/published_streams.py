"""What is published of the benchmarks' streams: stands in where a benchmark's rows are not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EXAMPLE_OF_SQL = 41.0
"""Tokens of a question with its SQL: Spider's figures with 16 examples and with none, compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedStream:
    """The stream of one benchmark, with what gpt-3.5 read and wrote in one run over it.

    Attributes:
        queries: How many.
        examples: How many examples each message of Self-StreamICL holds.
        tokens_in: What Self-StreamICL read.
        tokens_out: What it wrote.
        zero_shot_in: What zero-shot read, where that is published.
        sql_examples: Whether an example is a question with its SQL and nothing else.
    """

    queries: int
    examples: int
    tokens_in: float
    tokens_out: float
    zero_shot_in: float | None = None
    sql_examples: bool = False

    @property
    def tokens_an_example(self) -> float:
        """Tokens of one example; where nothing better is known, an example is like a query."""
        if self.zero_shot_in is not None:
            return (self.tokens_in - self.zero_shot_in) / self.queries / self.examples
        if self.sql_examples:
            return EXAMPLE_OF_SQL
        return self.tokens_in / self.queries / (self.examples + 1)

    @property
    def tokens_a_query(self) -> float:
        """Tokens of a message without examples."""
        return self.tokens_in / self.queries - self.examples * self.tokens_an_example

    @property
    def tokens_an_answer(self) -> float:
        """Tokens of one answer."""
        return self.tokens_out / self.queries


PUBLISHED_STREAMS: Mapping[str, PublishedStream] = {
    "spider": PublishedStream(
        queries=2147,
        examples=16,
        tokens_in=2.156e6,
        tokens_out=0.063e6,
        zero_shot_in=0.734e6,
        sql_examples=True,
    ),
    "cosql": PublishedStream(
        queries=1007, examples=16, tokens_in=0.966e6, tokens_out=0.021e6, sql_examples=True
    ),
    "bird": PublishedStream(
        queries=1534, examples=16, tokens_in=2.688e6, tokens_out=0.066e6, sql_examples=True
    ),
    "ds1000": PublishedStream(queries=1000, examples=4, tokens_in=1.765e6, tokens_out=0.073e6),
    "ddxplus": PublishedStream(
        queries=1764, examples=16, tokens_in=7.833e6, tokens_out=0.013e6, zero_shot_in=1.131e6
    ),
    "hotpotqa": PublishedStream(queries=1500, examples=4, tokens_in=10.46e6, tokens_out=0.013e6),
}
"""Source: StreamBench, arXiv 2406.08747, table 10, and the lengths of its section 3."""


def published_stream(environment: str) -> PublishedStream | None:
    """Return what is published of an environment's stream, whichever edition it is.

    Examples:
        >>> stream = published_stream("spider_published")
        >>> stream.queries, round(stream.tokens_a_query), round(stream.tokens_an_example)
        (2147, 342, 41)
        >>> published_stream("parity") is None
        True
    """
    return PUBLISHED_STREAMS.get(environment.removesuffix("_published"))
