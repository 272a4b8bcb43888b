"""What DRPG's published code does otherwise and several methods share, kept for comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from learnloop.types import Episode, Policy

Insertion = Literal["literal", "pattern"]
"""How a policy gets into a message: as it is, or as in the published code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What of an earlier stream an answering model is shown."""

    examples: tuple[Episode, ...]
    policy: Policy | None


def inserted(policy: Policy | None, *, examples: Sequence[Episode], insertion: Insertion) -> Learnt:
    """Return what of a policy and examples gets into a message; nothing where insertion fails."""
    if insertion == "literal" or policy is None:
        return Learnt(examples=tuple(examples), policy=policy)
    changed = inserted_as_pattern(policy)
    return Learnt(examples=tuple(examples) if changed else (), policy=changed)


def inserted_as_pattern(policy: Policy) -> Policy | None:
    r"""Return the policy as it looks after insertion as a regular-expression template.

    The published code puts the policy into the message as the replacement of a regular
    expression, unescaped: an escape such as `\n` becomes a line break, and one that means
    nothing (`\d`, `\1`) raises, upon which the step falls back to the zero-shot message without
    examples or policy; `None` stands for that.

    Examples:
        >>> from learnloop.types import Bullet
        >>> inserted_as_pattern(Policy(bullets=(Bullet(text=r"match \d+"),), writer="x")) is None
        True
    """
    try:
        bullets = tuple(
            replace(bullet, text=re.sub("policy", bullet.text, "policy"))
            for bullet in policy.bullets
        )
    except (re.error, IndexError):
        return None
    return replace(policy, bullets=bullets)


PUBLISHED_LIMITS: dict[str, object] = {
    "max_tokens": 1024,
    "policy_tokens": 1024,
    "examples_budget": 1_000_000,
    "policy_budget": 1_000_000,
}
"""The limits of the published runs. The budgets are none, since nothing is cut there."""
