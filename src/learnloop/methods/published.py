"""What DRPG's published code does with a policy that holds a backslash, kept for comparison."""

from __future__ import annotations

import re
from dataclasses import replace

from learnloop.types import Policy


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
