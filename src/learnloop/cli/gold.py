"""Runs the gold queries of a benchmark, to see that its databases are the right ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from learnloop.data.catalog import Benchmark
from learnloop.data.checking import GoldQuery, database_file, database_folder, gold_queries
from learnloop.environments.graders.sql import SQLGrader
from learnloop.errors import DataError

SECONDS = 60.0
MAX_INSTRUCTIONS = 2_000_000_000
MAX_ROWS = 1_000_000
MAX_BYTES = 1 << 28
"""Limits that are far above what any gold query needs, so that only a broken one meets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it: what is wrong, and what is worth knowing, a line each."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def run_gold_queries(benchmark: Benchmark, root: Path) -> Ran:
    """Run every gold query on its database, read-only and within limits."""
    folder = database_folder(benchmark, root)
    queries = list(gold_queries(benchmark, root))
    names = {query.database for query in queries}
    missing = _missing(folder, names)
    graders = {name: _grader(folder, name) for name in names - set(missing)}
    problems = list(missing.values())
    ran, empty, marked = 0, 0, 0
    for query in queries:
        if query.database in missing:
            continue
        try:
            empty += not graders[query.database].rows(query.sql)
            ran += 1
        except DataError as error:
            marked += query.fails
            if not query.fails:
                problems.append(f"row {query.row}: {error}")
    return Ran(problems=tuple(problems), notes=_notes(queries, ran, empty, marked))


def _grader(folder: Path, name: str) -> SQLGrader:
    return SQLGrader(
        database_file(folder, name),
        seconds=SECONDS,
        max_instructions=MAX_INSTRUCTIONS,
        max_rows=MAX_ROWS,
        max_bytes=MAX_BYTES,
    )


def _missing(folder: Path, names: set[str]) -> Mapping[str, str]:
    lines = {}
    for name in sorted(names):
        try:
            database_file(folder, name)
        except DataError as error:
            lines[name] = str(error)
    return lines


def _notes(queries: list[GoldQuery], ran: int, empty: int, marked: int) -> tuple[str, ...]:
    databases = len({query.database for query in queries})
    lines = [f"gold queries that run: {ran:,} of {len(queries):,}; databases: {databases}"]
    if marked:
        lines.append(f"gold queries that do not run and are marked so in the rows: {marked}")
    if empty:
        lines.append(f"gold queries that find nothing, as any wrong query may: {empty}")
    return tuple(lines)
