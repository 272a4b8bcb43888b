"""Makes a stream from the rows of a text-to-SQL benchmark: what its default editions share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from learnloop.environments.dataset import Dataset, Edition, Grades, Item, Order
from learnloop.environments.graders.sql import SQLGrader
from learnloop.environments.sql_stream import chosen_databases, database_file, schemas, sql_task
from learnloop.types import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLQuestion:
    """A question to a database, as a row has it.

    Attributes:
        id: Its id, with the name of the benchmark.
        database: The name of the database that it is about.
        text: What is asked.
        sql: The SQL that is right.
        tags: What reports may group it by.
        series: The conversation that it belongs to, where its place in it counts.
        broken: Whether the SQL is known not to run.
    """

    id: str
    database: str
    text: str
    sql: str
    tags: tuple[str, ...] = ()
    series: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLBenchmark:
    """A text-to-SQL benchmark as it is on this machine.

    Attributes:
        name: What it is called.
        length: Number of queries in the published stream.
        questions: Those of the stream, in the order of the source.
        demonstrations: Others, with SQL that is right.
        folder: Where its databases are.
    """

    name: str
    length: int
    questions: Sequence[SQLQuestion]
    demonstrations: Sequence[SQLQuestion]
    folder: Path

    def path_of(self, database: str) -> Path:
        """Return the file of a database."""
        return database_file(self.folder, database)

    def tried(self, grader: Callable[[str], SQLGrader]) -> SQLBenchmark:
        """Return it with the questions marked as broken whose SQL does not even compile."""
        questions = [
            replace(one, broken=one.broken or not grader(one.database).compiles(one.sql))
            for one in self.questions
        ]
        return replace(self, questions=questions)

    def only(self, databases: str) -> SQLBenchmark:
        """Return it with the questions to some databases, named in a list with commas."""
        chosen = chosen_databases(databases, [one.database for one in self.questions])
        kept = [one for one in self.questions if one.database in chosen]
        return replace(self, questions=kept)


def sql_dataset(
    benchmark: SQLBenchmark, *, edition: Edition, grade: Grades, order: Order
) -> Dataset:
    """Make the stream of a default edition; questions whose SQL is broken are excluded by id."""
    broken = tuple(one.id for one in benchmark.questions if one.broken)
    asked = {one.database for one in benchmark.questions if not one.broken}
    contexts = schemas(benchmark.path_of, sorted(asked))
    return Dataset(
        edition=replace(edition, excluded=(*edition.excluded, *broken)),
        task=sql_task(benchmark.name),
        items=[
            sql_item(one, context=contexts.get(one.database, "")) for one in benchmark.questions
        ],
        grade=grade,
        order=order,
        demonstrations=[sql_item(one) for one in benchmark.demonstrations],
    )


def sql_item(question: SQLQuestion, *, context: str = "") -> Item:
    """Return a question as an item, its SQL on one line."""
    return Item(
        query=Query(id=question.id, text=question.text, context=context, group=question.database),
        gold=one_line(question.sql),
        tags=question.tags,
        series=question.series,
    )


def one_line(sql: str) -> str:
    r"""Return SQL with single spaces, but for what stands in quotes; SQL with comments as it is.

    Examples:
        >>> one_line("SELECT  name\nFROM pet WHERE kind = 'two  spaces' ;")
        "SELECT name FROM pet WHERE kind = 'two  spaces' ;"
    """
    if "--" in sql:
        return sql.strip()
    return _QUOTED_OR_SPACE.sub(lambda found: found.group(1) or " ", sql).strip()


_QUOTED_OR_SPACE = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])|\s+""")
