"""What time it is, and ids that sort by it; both are handed to whoever needs them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

Now = Callable[[], datetime]
NewId = Callable[[str], str]

_RANDOM_BITS = 76


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC, as everything that is stored has it.

    Examples:
        >>> stamp(datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
        '2026-03-01T12:30:00.000Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


class Identifiers:
    """Makes ids such as `inf_019cab...`: milliseconds since 1970, then random bits, in hex.

    Args:
        now: Returns the time.
        random: Returns so many random bits.

    Examples:
        >>> new_id = Identifiers(
        ...     now=lambda: datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), random=lambda bits: 7
        ... )
        >>> new_id("inf")
        'inf_0000000003e80000000000000000007'
    """

    def __init__(
        self, *, now: Now = utc_now, random: Callable[[int], int] = secrets.randbits
    ) -> None:
        self.now = now
        self.random = random

    def __call__(self, kind: str) -> str:
        milliseconds = int(self.now().timestamp() * 1000)
        return f"{kind}_{milliseconds:012x}{self.random(_RANDOM_BITS):019x}"
