"""What the streams of a study are like, found out once for each and without running anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from learnloop.environments.ds1000_references import are_known
from learnloop.errors import DataError, ParameterError
from learnloop.prompting.blocks import example_block
from learnloop.prompting.composer import Composer
from learnloop.prompting.tokens import estimate_tokens
from learnloop.protocols import Environment
from learnloop.runner.building import check_spec, check_words, open_environment
from learnloop.runner.published_streams import PublishedStream, published_stream
from learnloop.runner.spec import RunSpec
from learnloop.settings import read_settings
from learnloop.types import Episode, Query, Source, Task

SAMPLE = 40
"""Queries whose tokens are counted."""
ANSWER_TOKENS = 40.0
"""Tokens of an answer where nothing is published. A guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """A stream, as far as it can be known beforehand.

    Attributes:
        length: Number of queries.
        has_form: Whether the prompt of its task can be read without a model.
        query_tokens: Tokens of a message without examples, on average.
        example_tokens: Tokens of one example.
        answer_tokens: Tokens of one answer.
        environment: It itself, where it could be opened.
        note: What the numbers are taken from, where it is not the stream.
    """

    length: int
    has_form: bool
    query_tokens: float
    example_tokens: float
    answer_tokens: float
    environment: Environment | None = None
    note: str = ""


class Streams:
    """Looks at each environment once, however many runs are on it.

    Args:
        need_data: Whether a benchmark must be here. Where not, what is published of it is taken
            in the place of rows that are not here, or that take minutes to get ready.
    """

    def __init__(self, *, need_data: bool = True) -> None:
        self.need_data = need_data
        self._known: dict[tuple[str, str], StreamFacts] = {}

    def find(self, spec: RunSpec) -> StreamFacts:
        """Check a spec and return what its stream is like.

        Raises:
            InputError: Something in it is not good.
            DataError: Rows are needed and not here.
        """
        check_words(spec)
        key = (spec.environment, json.dumps(spec.environment_params, sort_keys=True))
        if key not in self._known:
            self._known[key] = self._look(spec)
        facts = self._known[key]
        if facts.environment is not None:
            check_spec(spec, environment=facts.environment)
        elif spec.steps is not None and spec.steps > facts.length:
            raise ParameterError(
                f"steps: {spec.steps} asked for, but {spec.environment} has {facts.length} queries"
            )
        return facts

    def _look(self, spec: RunSpec) -> StreamFacts:
        published = published_stream(spec.environment)
        if self.need_data or published is None:
            return _facts(open_environment(spec), published)
        if not _READY.get(spec.environment.removesuffix("_published"), _always)():
            return _as_published(published, "not made ready here: published length assumed")
        try:
            return _facts(open_environment(spec), published)
        except DataError:
            return _as_published(published, "data not here: published length assumed")


def _facts(environment: Environment, published: PublishedStream | None) -> StreamFacts:
    task = environment.task
    queries = _sample(environment)
    answer = ANSWER_TOKENS if published is None else published.tokens_an_answer
    return StreamFacts(
        length=len(environment),
        has_form=task.prompt_form is not None,
        query_tokens=_mean([_message_tokens(task, query) for query in queries]),
        example_tokens=_mean([_example_tokens(task, query) for query in queries]) + answer,
        answer_tokens=answer,
        environment=environment,
    )


def _as_published(published: PublishedStream, note: str) -> StreamFacts:
    return StreamFacts(
        length=published.queries,
        has_form=False,
        query_tokens=published.tokens_a_query,
        example_tokens=published.tokens_an_example,
        answer_tokens=published.tokens_an_answer,
        note=note,
    )


def _sample(environment: Environment) -> Sequence[Query]:
    """Return some queries from all over the stream, or its first where it tells only that one."""
    queries = cast(Sequence[Query], getattr(environment, "queries", ()))
    if not queries:
        return [environment.reset(seed=0)]
    return queries[:: max(1, len(queries) // SAMPLE)]


def _message_tokens(task: Task, query: Query) -> int:
    messages = _COMPOSER.compose(task, query).messages
    return sum(estimate_tokens(message.content) for message in messages)


def _example_tokens(task: Task, query: Query) -> int:
    episode = Episode(id=query.id, query=query, answer="", step=0, source=Source(kind="model"))
    return estimate_tokens(example_block(task, episode, example_format="plain"))


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers)


def _always() -> bool:
    return True


def _references_known() -> bool:
    published = published_stream("ds1000")
    assert published is not None
    return are_known(read_settings().cache, count=published.queries)


_READY: Mapping[str, Callable[[], bool]] = {"ds1000": _references_known}
"""Whether what takes minutes the first time is done, of the benchmarks that have such a thing."""

_COMPOSER = Composer()
