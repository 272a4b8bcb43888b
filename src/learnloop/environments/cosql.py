"""The CoSQL benchmark: conversations with a database, answered with SQL turn by turn.

Source: Yu et al. 2019, CC BY-SA 4.0; as a stream in StreamBench (arXiv 2406.08747): 1,007 turns of
the development split, each asked on its own. The databases are Spider's. Where those rows are not
there, dialogues of the development split stand in, and `note` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from learnloop.environments.dataset import Dataset, Edition, Order
from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.graders.sql_published import Empty
from learnloop.environments.rows import find_folder
from learnloop.environments.sql_benchmark import SQLBenchmark, SQLQuestion, sql_dataset
from learnloop.environments.sql_published import SECONDS, published_sql_dataset
from learnloop.environments.sql_stream import ExecutionGrader

LENGTH = 1007
"""Queries of the published stream."""

TURNS = "stream.jsonl"
"""The published rows: one turn each, without its conversation."""

DIALOGUES = "dev.jsonl"
"""Whole conversations."""


def cosql(
    *,
    conversation: bool = False,
    databases: str = "",
    order: Order = "shuffled",
    seconds: float = 30.0,
) -> Dataset:
    """Make the stream of CoSQL turns; those whose own SQL does not run are excluded by id.

    Args:
        conversation: Show the earlier questions of a conversation with each of its turns, and keep
            its turns in their order, so that a question such as "And the oldest?" has a meaning.
            Questions only: neither earlier answers nor the right ones. It needs whole dialogues,
            it is an easier task than the published one, and the id and the note say so.
        databases: Names of the databases to ask about, separated by commas; all where empty.
        order: `shuffled`, `by_db` or `given`; of conversations, where they are kept.
        seconds: Longest time for one SQL statement.
    """
    files = (DIALOGUES,) if conversation else (TURNS, DIALOGUES)
    benchmark = _benchmark(*files, conversation=conversation).only(databases)
    grade = ExecutionGrader(benchmark.path_of, seconds=seconds)
    return sql_dataset(
        benchmark.tried(grade.grader), edition=_edition(conversation), grade=grade, order=order
    )


def cosql_published(
    *, order: Order = "shuffled", empty: Empty = "wrong", seconds: float = SECONDS
) -> Dataset:
    """Make the stream as StreamBench grades it; see `graders.sql_published` for its quirks.

    Args:
        order: `shuffled`, `by_db` or `given`.
        empty: What an empty result is where the right one is empty too: `wrong` as in
            StreamBench, `right` as in DRPG's code.
        seconds: Longest time for one SQL statement.
    """
    return published_sql_dataset(
        _benchmark(TURNS, DIALOGUES), order=order, empty=empty, seconds=seconds
    )


def _edition(conversation: bool) -> Edition:
    if not conversation:
        return Edition(id="cosql-v1", length=LENGTH)
    remark = "not the published task: earlier questions of the conversation are shown"
    return Edition(id="cosql_conversation-v1", length=LENGTH, remarks=(remark,))


def _benchmark(*files: str, conversation: bool = False) -> SQLBenchmark:
    folder = find_folder("cosql")
    return SQLBenchmark(
        name="cosql",
        length=LENGTH,
        questions=[
            question
            for row in read_fields(folder, *files)
            for question in _questions(row, conversation=conversation)
        ],
        demonstrations=[
            _question(row, id=f"cosql-train-{row.id}")
            for row in read_if_there(folder, "train.jsonl")
        ],
        folder=_databases(folder.path),
    )


def _databases(folder: Path) -> Path:
    own = folder / "database"
    return own if own.is_dir() else find_folder("spider").path / "database"


def _questions(row: Fields, *, conversation: bool) -> Iterator[SQLQuestion]:
    if "turns" not in row.row:
        yield _question(row, id=f"cosql-{row.id}")
        return
    before: list[str] = []
    for turn in _turns(row):
        yield SQLQuestion(
            id=f"cosql-{row.id}-{turn.number}",
            database=row.text("db_id"),
            text=_with_earlier(turn.text("utterance"), before if conversation else ()),
            sql=turn.text("query"),
            tags=("later turn" if before else "first turn",),
            series=f"cosql-{row.id}" if conversation else "",
            broken="error" in turn.row,
        )
        before.append(turn.text("utterance"))


def _turns(row: Fields) -> list[Fields]:
    turns = row.row["turns"]
    if (
        not isinstance(turns, list)
        or not all(isinstance(turn, dict) for turn in turns)
        or not turns
    ):
        raise row.error("turns", "must be a list of objects, one at least")
    file = f"{row.file}, row {row.number}, turns"
    return [Fields(row=turn, number=number, file=file) for number, turn in enumerate(turns, 1)]


def _question(row: Fields, *, id: str) -> SQLQuestion:
    return SQLQuestion(
        id=id,
        database=row.text("db_id"),
        text=row.text("question"),
        sql=row.text("query"),
        broken="error" in row.row,
    )


def _with_earlier(question: str, earlier: Sequence[str]) -> str:
    """Return a question with those that were asked before it in its conversation."""
    if not earlier:
        return question
    lines = "\n".join(f"- {one}" for one in earlier)
    return f"{question}\n{_EARLIER}\n{lines}"


_EARLIER = "Asked before in the same conversation, oldest first:"
