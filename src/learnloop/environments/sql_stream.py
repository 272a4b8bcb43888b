"""What text-to-SQL benchmarks share: task, schemas as text, grading by what SQL returns."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from learnloop.environments.dataset import Graded, Item
from learnloop.environments.graders.sql import SQLGrader, Why
from learnloop.environments.graders.sql_answer import parse_sql
from learnloop.environments.graders.sql_order import is_ordered, tie_sizes
from learnloop.errors import DataError, ParameterError
from learnloop.types import Task

MAX_INSTRUCTIONS = 200_000_000
MAX_ROWS = 200_000
MAX_BYTES = 50_000_000
"""Limits on one statement: those of real databases, not of small ones made for tests."""

EMPTY_GOLD = "empty gold"
"""Tag of a query whose gold SQL returns no rows: any SQL that finds nothing is right there."""


def sql_task(name: str) -> Task:
    """Return the task of the default editions: the schema first, where a cache can reuse it."""
    return Task(
        name=name,
        role="You write SQLite queries that answer questions about a database.",
        instructions=(
            "Answer the question with one SQLite query on the given tables. "
            "Return the columns that are asked for, in that order, and no others."
        ),
        answer_format="Only the SQL statement, without explanation.",
        metric="execution accuracy",
        parse=parse_sql,
        query_label="Question",
        answer_label="SQL",
        shared_context=True,
    )


class ExecutionGrader:
    """Grades SQL by what it returns on the database of its query.

    Rows are compared as a multiset, in order where the gold SQL orders them; rows that tie under
    its sort keys may come in any order. A query whose gold SQL returns nothing carries the tag
    `empty gold`: an answer that finds nothing is right there, whatever it looked for.

    Args:
        path_of: Returns the file of a database by its name.
        seconds: Longest time for one statement.
        max_instructions: Most instructions of SQLite's virtual machine for one statement.
        today: The day that SQL takes for today, `YYYY-MM-DD`; `None` is the clock's.
    """

    def __init__(
        self,
        path_of: Callable[[str], Path],
        *,
        seconds: float,
        max_instructions: int = MAX_INSTRUCTIONS,
        today: str | None = None,
    ) -> None:
        self.grader = sql_graders(
            path_of, seconds=seconds, max_instructions=max_instructions, today=today
        )
        self._ties: dict[tuple[str, str], tuple[int, ...]] = {}

    def __call__(self, item: Item, answer: str) -> Graded:
        grader = self.grader(item.query.group)
        ordered = is_ordered(item.gold)
        grade = grader.grade(answer, gold=item.gold, ordered=ordered)
        if grade.why == "other order":
            ties = self._tie_sizes(item.query.group, item.gold)
            grade = grader.grade(answer, gold=item.gold, ordered=ordered, ties=ties)
        empty = () if grader.rows(item.gold) else (EMPTY_GOLD,)
        why = grade.why + (f": {grade.detail}" if grade.detail else "")
        return Graded(
            value=float(grade.correct),
            correct=grade.correct,
            why=why,
            comment=_COMMENTS[grade.why].format(detail=grade.detail),
            tags=empty,
        )

    def _tie_sizes(self, database: str, gold: str) -> tuple[int, ...]:
        if (database, gold) not in self._ties:
            grader = self.grader(database)
            self._ties[database, gold] = tie_sizes(
                gold, rows=grader.rows(gold), run=grader.rows_or_none
            )
        return self._ties[database, gold]


def sql_graders(
    path_of: Callable[[str], Path],
    *,
    seconds: float,
    max_instructions: int = MAX_INSTRUCTIONS,
    today: str | None = None,
) -> Callable[[str], SQLGrader]:
    """Return what returns, and keeps, the grader of each database by its name."""

    @cache
    def grader(database: str) -> SQLGrader:
        return SQLGrader(
            path_of(database),
            today=today,
            seconds=seconds,
            max_instructions=max_instructions,
            max_rows=MAX_ROWS,
            max_bytes=MAX_BYTES,
        )

    return grader


_COMMENTS: Mapping[Why, str] = {
    "same rows": "",
    "other rows": "The rows are not the ones asked for.",
    "other columns": "The number of columns is not the one asked for: {detail}.",
    "other order": "The rows are right, but not in the order asked for.",
    "no statement": "There is no query that returns rows.",
    "refused": "The database refuses the query: {detail}.",
    "invalid": "The query fails: {detail}.",
    "too slow": "The query takes too long.",
    "too large": "The query returns far too much.",
}
"""What a user sees who knows what was asked for, but not the right SQL."""


def database_file(folder: Path, name: str) -> Path:
    """Return the SQLite file of a database.

    Raises:
        DataError: It is not there.
    """
    path = folder / name / f"{name}.sqlite"
    if not path.is_file():
        raise DataError(f"no database {name!r}: {str(path)!r} is not there; get the data again")
    return path


def chosen_databases(asked: str, known: Sequence[str]) -> frozenset[str]:
    """Return the databases named in a comma-separated list; all of them where it is empty.

    Raises:
        ParameterError: One is not known.

    Examples:
        >>> sorted(chosen_databases("pets, world", ["pets", "singer", "world"]))
        ['pets', 'world']
    """
    names = [name.strip() for name in asked.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join(sorted(set(known)))
        raise ParameterError(f"databases: no database {unknown[0]!r}; there are {listed}")
    return frozenset(names or known)


def schemas(path_of: Callable[[str], Path], names: Sequence[str]) -> Mapping[str, str]:
    """Return the schema text of each database."""
    return {name: schema_text(path_of(name)) for name in sorted(set(names))}


def schema_text(path: Path) -> str:
    """Return the tables of a database as a model sees them: one short CREATE TABLE a line.

    Types are without lengths, names are quoted where SQLite needs it, and what neither an answer
    nor a join needs (defaults, checks, indexes) is left out.

    Raises:
        DataError: The file is no SQLite database.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            tables = found.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid"
            ).fetchall()
            return "\n".join(_table_text(found, name) for (name,) in tables)
    except sqlite3.Error as error:
        raise DataError(f"cannot read the schema of {str(path)!r}: {error}") from error


def _table_text(connection: sqlite3.Connection, table: str) -> str:
    columns = connection.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()
    keys = [name for _, name, _, _, _, place in sorted(columns, key=lambda c: c[5]) if place]
    lines = [
        " ".join(filter(None, [_name(name), _type(declared), _key(name, keys)]))
        for _, name, declared, _, _, _ in columns
    ]
    if len(keys) > 1:
        lines.append(f"PRIMARY KEY ({', '.join(map(_name, keys))})")
    return f"CREATE TABLE {_name(table)} ({', '.join([*lines, *_foreign(connection, table)])});"


def _foreign(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = connection.execute(
        "SELECT id, [table], [from], [to] FROM pragma_foreign_key_list(?) ORDER BY id, seq",
        (table,),
    ).fetchall()
    found = []
    for number in sorted({row[0] for row in rows}):
        pairs = [row for row in rows if row[0] == number]
        own = ", ".join(_name(column) for _, _, column, _ in pairs)
        other = ", ".join(_name(column) for _, _, _, column in pairs if column is not None)
        target = _name(pairs[0][1]) + (f" ({other})" if other else "")
        found.append(f"FOREIGN KEY ({own}) REFERENCES {target}")
    return found


def _key(name: str, keys: Sequence[str]) -> str:
    return "PRIMARY KEY" if list(keys) == [name] else ""


def _type(declared: str) -> str:
    return re.sub(r"\s*\(.*", "", declared).lower()


def _name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


_KEYWORDS = (
    "ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CAST CHECK COLLATE COMMIT CONSTRAINT "
    "CREATE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DISTINCT DROP "
    "ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IF IN INDEX INSERT INTERSECT INTO IS "
    "ISNULL JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY RAISE REFERENCES RETURNING "
    "SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN WHERE"
)
_RESERVED = frozenset(_KEYWORDS.split())
"""Words that SQLite takes for no name without quotes."""
