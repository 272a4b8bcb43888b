"""The simulated user: says which convention an answer broke, one at a time, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learnloop.environments.house_rules.data import Rule


class SimulatedUser:
    """Complains about one broken convention, in one of the wordings that users have for it.

    Every call draws two numbers, whatever it says, so that two methods on one stream hear the
    same user.

    Args:
        rng: Decides which broken convention is named, and in which wording.
    """

    def __init__(self, *, rng: np.random.Generator) -> None:
        self.rng = rng

    def comment(self, sql: str, *, needed: Sequence[Rule]) -> str | None:
        """Return a comment on one convention that the SQL breaks, `None` where none shows."""
        which, wording = self.rng.random(2)
        broken = [rule for rule in needed if not rule.is_followed_by(sql)]
        if not broken:
            return None
        comments = broken[int(which * len(broken))].comments
        return comments[int(wording * len(comments))]
