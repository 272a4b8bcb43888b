"""A part of a long list, and where the next one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

NEWEST = 2**63 - 1
"""The cursor of the first page: newer than any row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of a list, newest first; `next_cursor` is `None` at the end."""

    items: tuple[T, ...]
    next_cursor: int | None


def make_page(
    rows: Sequence[tuple[Any, ...]], *, limit: int, read: Callable[[tuple[Any, ...]], T]
) -> Page[T]:
    """Make a page of rows that begin with their position; one row more than asked for was read.

    Examples:
        >>> make_page([(9, "b"), (7, "a")], limit=1, read=lambda row: row[1])
        Page(items=('b',), next_cursor=9)
    """
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(
        items=tuple(read(row) for row in shown), next_cursor=int(shown[-1][0]) if more else None
    )
