"""The BIRD benchmark: questions to large, untidy databases, answered with SQL.

Source: Li et al. 2023, CC BY-SA 4.0; as a stream in StreamBench (arXiv 2406.08747): the 1,534 rows
of the development split, without their evidence. Tags: the difficulty, and `mini_dev` where a row
is part of BIRD's smaller split.
"""

from __future__ import annotations

from learnloop.environments.dataset import Dataset, Edition, Order
from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.graders.sql_published import Empty
from learnloop.environments.rows import find_folder
from learnloop.environments.sql_benchmark import SQLBenchmark, SQLQuestion, sql_dataset
from learnloop.environments.sql_published import SECONDS, published_sql_dataset
from learnloop.environments.sql_stream import ExecutionGrader

LENGTH = 1534
"""Queries of the published stream."""

MAX_INSTRUCTIONS = 500_000_000
"""Some of its gold SQL takes tens of millions on a small database already."""

TODAY = "2023-05-01"
"""What SQL takes for today: a day of the month in which the benchmark was published."""


def bird(
    *,
    evidence: bool = False,
    databases: str = "",
    order: Order = "shuffled",
    seconds: float = 30.0,
) -> Dataset:
    """Make the stream of BIRD questions.

    Args:
        evidence: Show the hint that comes with a question. It is an easier task than the published
            one, and the id and the note of the stream say so.
        databases: Names of the databases to ask about, separated by commas; all where empty.
        order: `shuffled`, `by_db` or `given`.
        seconds: Longest time for one SQL statement.
    """
    benchmark = _benchmark(evidence=evidence).only(databases)
    grade = ExecutionGrader(
        benchmark.path_of, seconds=seconds, max_instructions=MAX_INSTRUCTIONS, today=TODAY
    )
    return sql_dataset(benchmark, edition=_edition(evidence), grade=grade, order=order)


def bird_published(
    *, order: Order = "shuffled", empty: Empty = "wrong", seconds: float = SECONDS
) -> Dataset:
    """Make the stream as StreamBench grades it; see `graders.sql_published` for its quirks.

    Args:
        order: `shuffled`, `by_db` or `given`.
        empty: What an empty result is where the right one is empty too: `wrong` as in
            StreamBench, `right` as in DRPG's code.
        seconds: Longest time for one SQL statement.
    """
    return published_sql_dataset(_benchmark(), order=order, empty=empty, seconds=seconds)


def _edition(evidence: bool) -> Edition:
    if not evidence:
        return Edition(id="bird-v1", length=LENGTH)
    remark = "not the published task: the evidence of each question is shown"
    return Edition(id="bird_evidence-v1", length=LENGTH, remarks=(remark,))


def _benchmark(*, evidence: bool = False) -> SQLBenchmark:
    folder = find_folder("bird")
    return SQLBenchmark(
        name="bird",
        length=LENGTH,
        questions=[_question(row, evidence=evidence) for row in read_fields(folder, "dev.jsonl")],
        demonstrations=[
            _question(row, evidence=evidence, prefix="train-")
            for row in read_if_there(folder, "train.jsonl")
        ],
        folder=folder.path / "database",
    )


def _question(row: Fields, *, evidence: bool, prefix: str = "") -> SQLQuestion:
    hint = row.row.get("evidence") if evidence else ""
    question = row.text("question")
    return SQLQuestion(
        id=f"bird-{prefix}{row.row.get('question_id', row.id)}",
        database=row.text("db_id"),
        text=f"{question}\nHint: {row.text('evidence')}" if hint else question,
        sql=row.text("SQL"),
        tags=_tags(row),
        broken="error" in row.row,
    )


def _tags(row: Fields) -> tuple[str, ...]:
    difficulty = row.row.get("difficulty")
    tags = (difficulty,) if isinstance(difficulty, str) and difficulty else ()
    return (*tags, "mini_dev") if row.row.get("in_mini_dev") is True else tags
