"""Ids that were seen before; so many of the newest that no stream of a benchmark forgets one."""

from __future__ import annotations

from collections.abc import Iterable

REMEMBERED = 4096


class Seen:
    """Remembers the newest ids, and what came before no more.

    Args:
        ids: Those seen so far, oldest first.
        most: How many are remembered.

    Examples:
        >>> seen = Seen(most=2)
        >>> for one in "abca":
        ...     seen.add(one)
        >>> "b" in seen, seen.ids
        (False, ('c', 'a'))
    """

    def __init__(self, ids: Iterable[str] = (), *, most: int = REMEMBERED) -> None:
        self.most = most
        self._ids: dict[str, None] = {}
        for one in ids:
            self.add(one)

    def __contains__(self, one: str) -> bool:
        return one in self._ids

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, oldest first."""
        return tuple(self._ids)

    def add(self, one: str) -> None:
        """Remember an id; one that is remembered keeps its place."""
        self._ids.setdefault(one)
        if len(self._ids) > self.most:
            del self._ids[next(iter(self._ids))]
