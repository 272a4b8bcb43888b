"""The Spider benchmark: questions to many small databases, answered with SQL.

Source: Yu et al. 2018, CC BY-SA 4.0; as a stream in StreamBench (arXiv 2406.08747): the 2,147 rows
of the test split. Where those are not there, the development split stands in, and `note` says so.
"""

from __future__ import annotations

from functools import partial

from learnloop.environments.dataset import Dataset, Edition, Item, Order
from learnloop.environments.rows import Row, find_folder
from learnloop.environments.sql_stream import (
    ExecutionGrader,
    chosen_databases,
    database_file,
    schemas,
    sql_task,
)
from learnloop.errors import DataError
from learnloop.types import Query

LENGTH = 2147
"""Queries of the published stream."""


def spider(*, databases: str = "", order: Order = "shuffled", seconds: float = 5.0) -> Dataset:
    """Make the stream of Spider questions.

    Args:
        databases: Names of the databases to ask about, separated by commas; all where empty.
        order: `shuffled`, `by_db` or `given`.
        seconds: Longest time for one SQL statement.
    """
    folder = find_folder("spider")
    rows = folder.rows("test.jsonl", "dev.jsonl")
    chosen = chosen_databases(databases, [_text(row, "db_id") for row in rows])
    path_of = partial(database_file, folder.path / "database")
    contexts = schemas(path_of, list(chosen))
    return Dataset(
        edition=Edition(id="spider-v1", length=LENGTH),
        task=sql_task("spider"),
        items=[
            spider_item(row, context=contexts[row["db_id"]])
            for row in rows
            if row["db_id"] in chosen
        ],
        grade=ExecutionGrader(path_of, seconds=seconds),
        order=order,
        demonstrations=demonstrations(),
    )


def spider_item(row: Row, *, context: str = "") -> Item:
    """Return the item of one row.

    Raises:
        DataError: A field is missing or no text.
    """
    return Item(
        query=Query(
            id=f"spider-{row.get('id')}",
            text=_text(row, "question"),
            context=context,
            group=_text(row, "db_id"),
        ),
        gold=" ".join(_text(row, "query").split()),
    )


def demonstrations() -> list[Item]:
    """Return the first rows of the training split, where it is there; none else."""
    folder = find_folder("spider")
    if not (folder.path / "train.jsonl").exists():
        return []
    return [spider_item({**row, "id": f"train-{row['id']}"}) for row in folder.rows("train.jsonl")]


def _text(row: Row, field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise DataError(f"spider row {row.get('id')!r}: {field} must be text, got {value!r}")
    return value
