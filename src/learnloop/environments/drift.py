"""When a hidden rule or number changes: planned steps, each moved a little by the seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
