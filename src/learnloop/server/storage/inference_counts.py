"""Inferences added up by day and by whether what was learnt was shown."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from learnloop.server.storage.inferences import MemoryUse


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """One day (UTC) of a task in one state of memory.

    `unknown` answers have no feedback with a view; `failed` ones are in none of the outcomes.
    `cost` adds up what has a price, `unpriced` counts what has none.
    """

    day: str
    memory: MemoryUse
    right: int
    wrong: int
    unknown: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: float
    unpriced: int


def count_by_day(
    connection: sqlite3.Connection, *, tenant: str, task: str, since: str = ""
) -> tuple[DayCount, ...]:
    """Return the counts of each day from `since` (ISO 8601) on, oldest first."""
    rows = connection.execute(_BY_DAY, (tenant, task, since))
    names = [column[0] for column in rows.description]
    return tuple(DayCount(**dict(zip(names, row, strict=True))) for row in rows)


_BY_DAY = """
SELECT substr(created_at, 1, 10) AS day, memory,
    SUM(status != 'failed' AND correct IS 1) AS right,
    SUM(status != 'failed' AND correct IS 0) AS wrong,
    SUM(status != 'failed' AND correct IS NULL) AS unknown,
    SUM(status = 'failed') AS failed,
    SUM(tokens_in) AS tokens_in, SUM(tokens_out) AS tokens_out,
    COALESCE(SUM(cost), 0.0) AS cost, SUM(cost IS NULL) AS unpriced
FROM inferences WHERE tenant = ? AND task = ? AND created_at >= ?
GROUP BY day, memory ORDER BY day, memory
"""
