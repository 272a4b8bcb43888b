"""Turns rows of the sources into the rows that environments read, and says what a row must have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from learnloop.data.catalog import Shape
from learnloop.errors import DataError, MissingExtraError

Row = Mapping[str, Any]


def convert(rows: Iterable[Row], shape: Shape) -> list[Row]:
    """Return the rows in our form.

    Raises:
        DataError: A row lacks what its form needs.
    """
    turn = _TURNS[shape]
    made: list[Row] = []
    for number, row in enumerate(rows):
        try:
            made.append(turn(number, row))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"row {number} of the source is not as expected: {error!r} in {sorted(row)!r}"
            ) from error
    return made


def read_parquet(path: Path) -> list[Row]:
    """Return the rows of a Parquet file.

    Raises:
        MissingExtraError: The library that reads them is not installed.
        DataError: It is no such file.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "the rows come as Parquet files, which need pyarrow; install it with "
            "pip install 'learnloop[data]'"
        ) from error
    try:
        rows: list[Row] = parquet.read_table(path).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"cannot read {path.name!r} as Parquet: {error}") from error
    return rows


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows, one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_rows(path: Path) -> Iterator[Row]:
    """Read rows, one JSON object a line.

    Raises:
        DataError: A line is no JSON object.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path.name} line {number} is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise DataError(f"{path.name} line {number} is no object: {line[:60]!r}")
            yield row


def queries_in(row: Row) -> int:
    """Return how many queries a row is: a conversation has one a turn."""
    return len(row["turns"]) if "turns" in row else 1


def lacking(benchmark: str, row: Row) -> str:
    """Return the fields that a row of the stream lacks, `""` where it has all.

    Examples:
        >>> lacking("spider", {"db_id": "pets", "question": "How many?", "query": "SELECT 1"})
        ''
        >>> lacking("spider", {"db_id": "pets", "query": "SELECT 1"})
        'question'
    """
    forms = _FORMS[benchmark]
    missing = [[name for name in form if row.get(name) in (None, "")] for form in forms]
    return ", ".join(sorted(missing, key=len)[0])


def _sql(number: int, row: Row) -> Row:
    query = row["query"] if "query" in row else row["SQL"]
    first = {"id": row.get("id", number), "db_id": row["db_id"], "question": row["question"]}
    rest = {name: value for name, value in row.items() if name not in {*first, "query", "SQL"}}
    return {**first, "query": query, **rest}


def _bird(number: int, row: Row) -> Row:
    first = {name: row[name] for name in ("db_id", "question", "SQL")}
    return {"question_id": number, **row, **first}


def _hotpotqa(number: int, row: Row) -> Row:
    context = row["context"]
    made = {
        "id": row.get("id", number),
        "question": row["question"],
        "answer": row["answer"],
        "context": [
            [title, "".join(sentences).strip()]
            for title, sentences in zip(context["title"], context["sentences"], strict=True)
        ],
    }
    if row.get("supporting_facts"):
        made["gold_titles"] = sorted(set(row["supporting_facts"]["title"]))
    return made | {name: row[name] for name in ("type", "level") if name in row}


def _as_given(number: int, row: Row) -> Row:
    return row


_TURNS: Mapping[Shape, Callable[[int, Row], Row]] = {
    "sql": _sql,
    "bird": _bird,
    "hotpotqa": _hotpotqa,
    "as given": _as_given,
}
_FORMS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "spider": (("db_id", "question", "query"),),
    "cosql": (("db_id", "question", "query"), ("db_id", "turns")),
    "bird": (("question_id", "db_id", "question", "SQL"),),
    "hotpotqa": (("question", "answer", "context"),),
    "ddxplus": (("PATIENT_PROFILE", "PATHOLOGY"), ("evidences", "pathology")),
    "ds1000": (("prompt", "reference_code", "code_context", "metadata"),),
}
"""The fields of a row of the stream, in each of the forms that an environment reads."""
