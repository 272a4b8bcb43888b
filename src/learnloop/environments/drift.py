"""When a hidden rule or number changes: planned steps, each moved a little by the seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CHANGED = "changed"
"""The tag of the hidden score at a step from which on another rule or number holds."""


def regimes(
    planned: Sequence[int], *, length: int, jitter: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Return for each step how many changes came before it, or with it.

    Args:
        planned: The steps of the changes, in order, more than twice `jitter` apart.
        length: Number of steps.
        jitter: How many steps a change may be earlier or later than planned.
        rng: Moves them; each place within the jitter is as probable.

    Examples:
        >>> regimes([2, 4], length=6, jitter=0, rng=np.random.default_rng(1))
        (0, 0, 1, 1, 2, 2)
    """
    moved = np.array(planned) + rng.integers(-jitter, jitter + 1, size=len(planned))
    return tuple(np.searchsorted(moved, np.arange(length), side="right").tolist())


def change_tags(count: Sequence[int], step: int) -> tuple[str, ...]:
    """Return the tags of a step, given how many changes came before each step or with it.

    Examples:
        >>> [change_tags((0, 0, 1), step) for step in range(3)]
        [(), (), ('changed',)]
    """
    return (CHANGED,) if step and count[step] != count[step - 1] else ()
