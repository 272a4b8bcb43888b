"""Which native slot of the local model holds which prompt prefix; decides, and evaluates nothing.

A lane is one slot of the inference engine with its key-value cache. Keeping a lane for each
constant prefix means that the answering and the policy-writing prompts never evict each other,
even where only one call runs at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A borrowed lane. `warm` says that it holds the asked prefix already."""

    number: int
    warm: bool


class Lanes:
    """Lends lanes, at most `slots` at a time, and remembers what each holds.

    Examples:
        >>> lanes = Lanes(slots=1, lanes=2)
        >>> with lanes.borrow("answer") as lane:
        ...     lane
        Lane(number=0, warm=False)
        >>> with lanes.borrow("policy") as lane:
        ...     lane
        Lane(number=1, warm=False)
        >>> with lanes.borrow("answer") as lane:
        ...     lane
        Lane(number=0, warm=True)
    """

    def __init__(self, *, slots: int, lanes: int) -> None:
        self._free = threading.BoundedSemaphore(slots)
        self._lock = threading.Lock()
        self._idle: dict[int, str | None] = dict.fromkeys(range(max(lanes, slots)))

    @contextmanager
    def borrow(self, prefix: str | None) -> Iterator[Lane]:
        """Wait for a lane, best one that holds the prefix, else the longest unused.

        An error inside leaves the lane with nothing that can be relied on.
        """
        with self._free:
            lane = self._take(prefix)
            held: str | None = None
            try:
                yield lane
                held = prefix
            finally:
                with self._lock:
                    self._idle[lane.number] = held

    def _take(self, prefix: str | None) -> Lane:
        with self._lock:
            number = self._holder(prefix) if prefix is not None else None
            warm = number is not None
            if number is None:
                number = self._least_valuable()
            del self._idle[number]
            return Lane(number=number, warm=warm)

    def _holder(self, prefix: str) -> int | None:
        return next((number for number, held in self._idle.items() if held == prefix), None)

    def _least_valuable(self) -> int:
        """Return an empty lane where there is one, else the one that was given back first."""
        return next(
            (number for number, held in self._idle.items() if held is None),
            next(iter(self._idle)),
        )
