"""The published editions of the text-to-SQL benchmarks: StreamBench's structure and grading.

The schema is the text of the tables' own CREATE statements, the question stands under a comment
that asks for valid SQLite, and with layout `paper` the parts come in the published order. The
sentences are ours. Grading, with its quirks, is that of `graders.sql_published`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from learnloop.environments.dataset import Dataset, Edition, Graded, Item, Order
from learnloop.environments.graders.sql import Failure, Result
from learnloop.environments.graders.sql_published import (
    Empty,
    parse_published_sql,
    published_grade,
)
from learnloop.environments.sql_benchmark import SQLBenchmark, SQLQuestion
from learnloop.environments.sql_stream import EMPTY_GOLD, sql_graders
from learnloop.errors import DataError
from learnloop.types import Query, Task

SECONDS = 30.0
"""Longest time for one statement in the published code."""

BROKEN_GOLD = "broken gold"
"""Tag of a query whose gold SQL fails: every answer is wrong there."""


def published_sql_dataset(
    benchmark: SQLBenchmark, *, order: Order, empty: Empty, seconds: float
) -> Dataset:
    """Make the stream of a published edition.

    `by_db` is the published order for shift: the rows of the source, by database, whatever the
    seed. The demonstrations are the training rows shuffled with the published seed.

    Args:
        benchmark: The rows.
        order: `shuffled`, `by_db` or `given`.
        empty: What an empty result is where the right one is empty too: `wrong` as in
            StreamBench, `right` as in DRPG's code.
        seconds: Longest time for one statement.
    """
    questions = list(benchmark.questions)
    if order == "by_db":
        questions.sort(key=lambda question: question.database)
        order = "given"
    ddl = {name: ddl_text(benchmark.path_of(name)) for name in {q.database for q in questions}}
    return Dataset(
        edition=_edition(benchmark, empty),
        task=published_sql_task(f"{benchmark.name}_published"),
        items=[_item(question, context=ddl[question.database]) for question in questions],
        grade=PublishedGrader(benchmark.path_of, empty=empty, seconds=seconds),
        order=order,
        demonstrations=[_item(question) for question in _shuffled(benchmark.demonstrations)],
    )


def published_sql_task(name: str) -> Task:
    """Return the task of the published editions."""
    return Task(
        name=name,
        role="You turn questions about a database into SQL.",
        instructions="-- Use valid SQLite for the question about these tables.",
        answer_format="Give the right SQL code at once, and nothing but that code.",
        metric="execution accuracy",
        parse=parse_published_sql,
        query_label="-- Question",
        answer_label="SQL",
        shared_context=True,
    )


def ddl_text(path: Path) -> str:
    """Return the CREATE TABLE statements of a database as they were written.

    An empty line stands between two; lines are without white space around them. SQLite's own
    table `sqlite_sequence` is among them where there is one, as in the published prompts.

    Raises:
        DataError: The file is no SQLite database.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            written = found.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error as error:
        raise DataError(f"cannot read the schema of {str(path)!r}: {error}") from error
    text = "\n\n".join(sql for (sql,) in written)
    return "\n".join(line.strip() for line in text.splitlines())


class PublishedGrader:
    """Grades SQL as the published code does, on the database of its query.

    Args:
        path_of: Returns the file of a database by its name.
        empty: What an empty result is where the right one is empty too.
        seconds: Longest time for one statement.
    """

    def __init__(
        self, path_of: Callable[[str], Path], *, empty: Empty = "wrong", seconds: float = SECONDS
    ) -> None:
        self.empty = empty
        self.grader = sql_graders(path_of, seconds=seconds, max_instructions=_NO_LIMIT)
        self._gold: dict[tuple[str, str], Result | Failure] = {}

    def __call__(self, item: Item, answer: str) -> Graded:
        want = self._wanted(item)
        got = want
        if answer != item.gold:
            got = self.grader(item.query.group).run(answer, strict_text=True)
        grade = published_grade(got, want, empty=self.empty)
        return Graded(
            value=float(grade.correct),
            correct=grade.correct,
            why=grade.why,
            comment="The SQL is not correct.",
            tags=_tags(want),
        )

    def _wanted(self, item: Item) -> Result | Failure:
        key = (item.query.group, item.gold)
        if key not in self._gold:
            self._gold[key] = self.grader(item.query.group).run(item.gold, strict_text=True)
        return self._gold[key]


def _edition(benchmark: SQLBenchmark, empty: Empty) -> Edition:
    name = f"{benchmark.name}_published"
    if empty == "wrong":
        remark = "an empty result is wrong even where the right one is empty, as published"
        return Edition(id=f"{name}-v1", length=benchmark.length, remarks=(remark,))
    remark = "an empty result is right where the right one is empty, as in DRPG's code"
    return Edition(id=f"{name}_empty_right-v1", length=benchmark.length, remarks=(remark,))


def _item(question: SQLQuestion, *, context: str = "") -> Item:
    return Item(
        query=Query(id=question.id, text=question.text, context=context, group=question.database),
        gold=question.sql,
        tags=question.tags,
    )


def _shuffled(demonstrations: Sequence[SQLQuestion]) -> list[SQLQuestion]:
    places = np.random.default_rng(_PUBLISHED_SEED).permutation(len(demonstrations))
    return [demonstrations[int(place)] for place in places]


def _tags(want: Result | Failure) -> tuple[str, ...]:
    if isinstance(want, Failure):
        return (BROKEN_GOLD,)
    return () if want.rows else (EMPTY_GOLD,)


_PUBLISHED_SEED = 42
_NO_LIMIT = 10**12
