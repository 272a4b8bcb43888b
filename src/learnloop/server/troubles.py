"""What went wrong on our side while the application was answered all the same."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Literal

TroubleKind = Literal["advice", "record", "upstream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The newest of its kind for a task; `count` is how often there was one."""

    tenant: str
    task: str
    kind: TroubleKind
    text: str
    at: str
    count: int = 1


class Troubles:
    """Keeps the newest trouble of each kind for each task, until the process ends.

    Examples:
        >>> troubles = Troubles()
        >>> troubles.note(
        ...     Trouble(tenant="acme", task="sql", kind="advice", text="too slow", at="2026-03-01")
        ... )
        >>> [trouble.text for trouble in troubles.of(tenant="acme")], troubles.of(tenant="beta")
        (['too slow'], ())
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], Trouble] = {}
        self._lock = threading.Lock()

    def note(self, trouble: Trouble) -> None:
        """Take note of one."""
        key = (trouble.tenant, trouble.task, trouble.kind)
        with self._lock:
            before = self._kept.get(key)
            count = trouble.count if before is None else before.count + trouble.count
            self._kept[key] = replace(trouble, count=count)

    def of(self, *, tenant: str) -> tuple[Trouble, ...]:
        """Return what there was for a tenant, by task and kind."""
        with self._lock:
            kept = [self._kept[key] for key in sorted(self._kept)]
        return tuple(trouble for trouble in kept if trouble.tenant == tenant)
