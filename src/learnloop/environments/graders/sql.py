"""Grades SQL by what it returns, and lets hostile SQL neither write, nor linger, nor swell.

Rows are compared as a multiset, in order only where asked for; see `same_rows` and `same_order`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from learnloop.environments.graders.rows import Row, same_order, same_rows
from learnloop.environments.graders.sql_functions import MAX_CHARACTERS, bound_functions
from learnloop.environments.graders.sql_today import fix_today
from learnloop.errors import DataError

Why = Literal[
    "same rows",
    "other rows",
    "other columns",
    "other order",
    "no statement",
    "refused",
    "invalid",
    "too slow",
    "too large",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Whether the SQL is right, why in a few fixed words, and a detail for people."""

    correct: bool
    why: Why
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why SQL returns nothing."""

    why: Why
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What SQL returns."""

    rows: tuple[Row, ...]
    columns: int


class SQLGrader:
    """Runs SQL on one database file, read-only, and compares what it returns with the gold SQL.

    The number of instructions is what stops a long query, so that a grade does not depend on how
    busy the machine is; the deadline in seconds stands behind it.

    Args:
        path: The SQLite file; it must not change while the grader is in use.
        today: The day that SQL takes for today, `YYYY-MM-DD`; `None` is the clock's.
        seconds: Longest time for one statement.
        max_instructions: Most instructions of SQLite's virtual machine for one statement.
        max_rows: Most rows that are read.
        max_bytes: Most bytes of text and blobs that are read; one value may take a fiftieth of
            it, and 50,000 in any case.
        clock: Tells seconds.
    """

    def __init__(
        self,
        path: Path,
        *,
        today: str | None = None,
        seconds: float = 2.0,
        max_instructions: int = 20_000_000,
        max_rows: int = 10_000,
        max_bytes: int = 2_000_000,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.path = path
        self.today = today
        self.seconds = seconds
        self.max_instructions = max_instructions
        self.max_rows = max_rows
        self.max_bytes = max_bytes
        self.clock = clock
        self._longest = max(MAX_CHARACTERS, max_bytes // 50)
        self._gold: dict[str, Result] = {}

    def grade(
        self, sql: str, *, gold: str, ordered: bool = False, ties: Sequence[int] = ()
    ) -> Grade:
        """Grade one answer; one that is the gold SQL itself is not run again.

        Args:
            sql: The answer.
            gold: The SQL that is right.
            ordered: Whether the order of the rows counts.
            ties: The sizes of the groups of gold rows whose order among themselves does not
                count; without it, that of every row does.

        Raises:
            DataError: The gold SQL does not run.
        """
        want = self._gold_rows(gold)
        got = want if sql == gold else self.run(sql)
        if isinstance(got, Failure):
            return Grade(correct=False, why=got.why, detail=got.detail)
        if got.columns != want.columns:
            detail = f"{got.columns} in place of {want.columns}"
            return Grade(correct=False, why="other columns", detail=detail)
        if not same_rows(got.rows, want.rows, ordered=False):
            detail = f"{len(got.rows)} in place of {len(want.rows)}"
            return Grade(correct=False, why="other rows", detail=detail)
        if ordered and not same_order(got.rows, want.rows, ties=ties):
            return Grade(correct=False, why="other order")
        return Grade(correct=True, why="same rows")

    def rows(self, sql: str) -> tuple[Row, ...]:
        """Return what trusted SQL returns, under limits that are ten times as wide.

        Raises:
            DataError: It does not run.
        """
        return self._gold_rows(sql).rows

    def rows_or_none(self, sql: str) -> tuple[Row, ...] | None:
        """Return what trusted SQL returns, under those limits; `None` where it does not run."""
        result = self.run(sql, patience=_PATIENCE)
        return result.rows if isinstance(result, Result) else None

    def _gold_rows(self, sql: str) -> Result:
        if sql not in self._gold:
            result = self.run(sql, patience=_PATIENCE)
            if isinstance(result, Failure):
                raise DataError(f"gold SQL fails ({result.why}, {result.detail}): {sql!r}")
            self._gold[sql] = result
        return self._gold[sql]

    def compiles(self, sql: str) -> bool:
        """Whether SQL has no error that shows before it runs."""
        return isinstance(self.run(f"EXPLAIN {sql}"), Result)

    def run(self, sql: str, *, patience: int = 1, strict_text: bool = False) -> Result | Failure:
        """Return what any SQL returns, or why it returns nothing.

        Args:
            sql: One statement.
            patience: How many times the limits on time and instructions it may take.
            strict_text: Whether text that is no UTF-8 is an error, as for Python by default.
        """
        uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with (
            closing(sqlite3.connect(":memory:")) as within,
            closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
        ):
            for each in (within, connection):
                each.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._longest)
            bound_functions(connection, within=within, longest=self._longest)
            if self.today is not None:
                fix_today(connection, self.today, within=within)
            _confine(connection)
            if not strict_text:
                connection.text_factory = _lenient_text
            watch = _Watch(
                deadline=self.clock() + self.seconds * patience,
                instructions=self.max_instructions * patience,
                clock=self.clock,
            )
            connection.set_progress_handler(watch, _INSTRUCTIONS_PER_LOOK)
            try:
                return self._read(connection, sql)
            except _EXPECTED as error:
                return _explain(error)

    def _read(self, connection: sqlite3.Connection, sql: str) -> Result | Failure:
        cursor = connection.execute(sql)
        if cursor.description is None:
            return Failure(why="no statement", detail="nothing that returns rows")
        rows: list[Row] = []
        size = 0
        for row in cursor:
            size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            if len(rows) >= self.max_rows or size > self.max_bytes:
                return Failure(why="too large", detail=f"over {len(rows)} rows, {size} bytes")
            rows.append(row)
        return Result(rows=tuple(rows), columns=len(cursor.description))


class _Watch:
    """Says when a statement has run for too long: a truthy answer makes SQLite stop it."""

    def __init__(self, *, deadline: float, instructions: int, clock: Callable[[], float]) -> None:
        self.deadline = deadline
        self.instructions = instructions
        self.clock = clock

    def __call__(self) -> bool:
        self.instructions -= _INSTRUCTIONS_PER_LOOK
        return self.instructions < 0 or self.clock() > self.deadline


def _confine(connection: sqlite3.Connection) -> None:
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.set_authorizer(_authorize)


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _FORBIDDEN_FUNCTIONS
    elif action == sqlite3.SQLITE_READ:
        allowed = not (first or "").lower().startswith(_FORBIDDEN_TABLES)
    else:
        allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _lenient_text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _explain(error: BaseException) -> Failure:
    detail = str(error)[:_DETAIL_CHARACTERS]
    if detail.startswith("not authorized"):
        return Failure(why="refused", detail=detail)
    why = _REASONS.get(getattr(error, "sqlite_errorcode", None), "invalid")
    return Failure(why=why, detail=detail)


_PATIENCE = 10
"""How much longer gold SQL may take, so that a busy machine does not stop a run."""
_INSTRUCTIONS_PER_LOOK = 100
_DETAIL_CHARACTERS = 200
_EXPECTED: tuple[type[Exception], ...] = (
    sqlite3.Error,
    sqlite3.Warning,
    ValueError,
    OverflowError,
    MemoryError,
)
_REASONS: dict[int | None, Why] = {
    sqlite3.SQLITE_INTERRUPT: "too slow",
    sqlite3.SQLITE_AUTH: "refused",
    sqlite3.SQLITE_READONLY: "refused",
    sqlite3.SQLITE_TOOBIG: "too large",
    sqlite3.SQLITE_NOMEM: "too large",
    sqlite3.SQLITE_FULL: "too large",
}
_LIMITS: dict[int, int] = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 400,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_FORBIDDEN_FUNCTIONS = frozenset(
    {
        "load_extension",
        "fts3_tokenizer",
        "readfile",
        "writefile",
        "edit",
        "random",
        "randomblob",
        "zeroblob",
        "json_group_array",
        "json_group_object",
    }
)
_FORBIDDEN_TABLES = ("pragma_", "sqlite_dbpage", "dbstat", "sqlite_stmt", "fts")
