"""The Spider benchmark: questions to many small databases, answered with SQL.

Source: Yu et al. 2018, CC BY-SA 4.0; as a stream in StreamBench (arXiv 2406.08747): the 2,147 rows
of the test split. Where those are not there, the development split stands in, and `note` says so.
"""

from __future__ import annotations

from learnloop.environments.dataset import Dataset, Edition, Order
from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.graders.sql_published import Empty
from learnloop.environments.rows import find_folder
from learnloop.environments.sql_benchmark import SQLBenchmark, SQLQuestion, sql_dataset
from learnloop.environments.sql_published import SECONDS, published_sql_dataset
from learnloop.environments.sql_stream import ExecutionGrader

LENGTH = 2147
"""Queries of the published stream."""


def spider(*, databases: str = "", order: Order = "shuffled", seconds: float = 30.0) -> Dataset:
    """Make the stream of Spider questions.

    Args:
        databases: Names of the databases to ask about, separated by commas; all where empty.
        order: `shuffled`, `by_db` or `given`.
        seconds: Longest time for one SQL statement; its limit on instructions comes first.
    """
    benchmark = _benchmark().only(databases)
    return sql_dataset(
        benchmark,
        edition=Edition(id="spider-v1", length=LENGTH),
        grade=ExecutionGrader(benchmark.path_of, seconds=seconds),
        order=order,
    )


def spider_published(
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


def _benchmark() -> SQLBenchmark:
    folder = find_folder("spider")
    return SQLBenchmark(
        name="spider",
        length=LENGTH,
        questions=[_question(row) for row in read_fields(folder, "test.jsonl", "dev.jsonl")],
        demonstrations=[
            _question(row, prefix="train-") for row in read_if_there(folder, "train.jsonl")
        ],
        folder=folder.path / "database",
    )


def _question(row: Fields, *, prefix: str = "") -> SQLQuestion:
    return SQLQuestion(
        id=f"spider-{prefix}{row.id}",
        database=row.text("db_id"),
        text=row.text("question"),
        sql=row.text("query"),
        broken="error" in row.row,
    )
