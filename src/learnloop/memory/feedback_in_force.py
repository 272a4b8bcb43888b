"""Which feedback on an episode counts, and what it says: the only place that resolves a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Saying(Protocol):
    """What of a feedback decides: its id, its view, and whom it replaces."""

    @property
    def id(self) -> str: ...

    @property
    def correct(self) -> bool | None: ...

    @property
    def supersedes(self) -> str | None: ...


def verdict(feedback: Sequence[Saying]) -> bool | None:
    """Say whether an answer was right, by the newest feedback in force that has a view.

    Args:
        feedback: All feedback on one episode, oldest first.

    Examples:
        >>> from learnloop.types import Feedback
        >>> wrong = Feedback(id="a", target_id="q", correct=False)
        >>> revised = Feedback(id="b", target_id="q", correct=True, supersedes="a")
        >>> verdict([wrong, revised])
        True
        >>> verdict([revised, wrong])
        True
        >>> verdict([]) is None
        True
    """
    replaced = {item.supersedes for item in feedback if item.supersedes != item.id}
    in_force = (item for item in reversed(feedback) if item.id not in replaced)
    return next((item.correct for item in in_force if item.correct is not None), None)
