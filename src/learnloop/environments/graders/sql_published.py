"""Grades SQL as the code of StreamBench does, and that of DRPG, quirks included.

The quirks, by name:

- *fence*: only a block that is fenced as lower-case `sql`, on lines of its own, is read as such;
  in any other reply with a fence, what stands before the first fence is lost, and all that comes
  after it, prose too, is taken for SQL.
- *select*: an answer that does not begin with upper-case `SELECT` gets it put in front, so that
  `select ...` and `WITH ...` are never right, not even as gold.
- *empty*: StreamBench calls an empty result wrong, even where the right one is empty too; DRPG
  mends that, and there nothing equals nothing, whatever the columns.
- *set*: rows are compared as a set: neither their order counts nor how often one comes.
- *exact*: a number is the same only where it is so to the last digit: 3.33 is not 10 / 3.
- *text*: a result with text that is no UTF-8 is wrong, also where the gold SQL returns it.
- *gold*: where the gold SQL fails, every answer is wrong.

What SQL may do is limited as everywhere here; the published code runs it unprotected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learnloop.environments.graders.sql import Failure, Result

Empty = Literal["wrong", "right"]
"""What an empty result is where the right one is empty: `wrong` in StreamBench."""

_OPEN = "```sql\n"
_FENCE = "```"
_SELECT = "SELECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGrade:
    """Whether the published code calls an answer right, and why."""

    correct: bool
    why: str


def parse_published_sql(reply: str) -> str:
    r"""Return what the published code runs for a reply.

    Examples:
        >>> parse_published_sql("```sql\nSELECT 1\n```")
        'SELECT 1'
        >>> parse_published_sql("select 1")
        'SELECT select 1'
        >>> parse_published_sql("SELECT 1\n```")
        'SELECT '
    """
    sql = _unfenced(reply).strip()
    return sql if sql.startswith(_SELECT) else f"{_SELECT} {sql}"


def published_grade(
    got: Result | Failure, want: Result | Failure, *, empty: Empty = "wrong"
) -> PublishedGrade:
    """Compare what an answer returns with what the gold SQL returns."""
    if isinstance(got, Failure):
        return PublishedGrade(correct=False, why=f"{got.why}: {got.detail}")
    if isinstance(want, Failure):
        return PublishedGrade(correct=False, why=f"gold SQL fails: {want.why}")
    if empty == "wrong" and not (got.rows and want.rows):
        return PublishedGrade(correct=False, why="empty result")
    if set(got.rows) == set(want.rows):
        return PublishedGrade(correct=True, why="same set of rows")
    return PublishedGrade(correct=False, why="other set of rows")


def _unfenced(reply: str) -> str:
    if reply.startswith(_OPEN) and reply.endswith(_FENCE):
        return reply[len(_OPEN) : -len(_FENCE)]
    if _FENCE not in reply:
        return reply
    _, opened, rest = reply.partition(_OPEN)
    block, closed, _ = rest.partition(f"\n{_FENCE}")
    if opened and closed:
        return block
    for marked in (_OPEN, _OPEN.upper()):
        reply = reply.replace(marked, _FENCE)
    return reply.partition(_FENCE)[2].replace(_FENCE, "")
