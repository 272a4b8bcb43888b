"""What numbers the gates take: parameters in their range, errors from 0 to 1."""

from __future__ import annotations

import math

from learnloop.errors import ParameterError

SLACK = 1e-9
"""How far below its threshold a signal may stay, so that rounding never decides."""


def check_error(error: float) -> None:
    """Raise unless the error is a number from 0 to 1.

    Raises:
        ParameterError: It is not.

    Examples:
        >>> check_error(2)
        Traceback (most recent call last):
        ...
        learnloop.errors.ParameterError: an error must be from 0 (right) to 1 (wrong), not 2; \
scale it where it is compared
    """
    if not 0.0 <= error <= 1.0:
        raise ParameterError(
            f"an error must be from 0 (right) to 1 (wrong), not {error!r}; "
            "scale it where it is compared"
        )


def check_range(
    name: str,
    value: float,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
) -> None:
    """Raise unless a parameter is finite and within its bounds.

    Raises:
        ParameterError: It is not.

    Examples:
        >>> check_range("leak", 1.5, above=0, at_most=1)
        Traceback (most recent call last):
        ...
        learnloop.errors.ParameterError: leak must be above 0 and at most 1, not 1.5
    """
    if math.isfinite(value) and above < value < below and at_least <= value <= at_most:
        return
    bounds = {"above": above, "at least": at_least, "below": below, "at most": at_most}
    words = [f"{word} {bound:g}" for word, bound in bounds.items() if math.isfinite(bound)]
    wanted = " and ".join(words) or "a finite number"
    raise ParameterError(f"{name} must be {wanted}, not {value!r}")
