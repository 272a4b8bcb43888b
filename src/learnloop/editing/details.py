"""The concrete details of a text: what a rule must keep, and what an answer that follows it has."""

from __future__ import annotations

import re
from functools import lru_cache

_DETAIL = re.compile(
    r"(?<!\w)'(?=[^'\n]*\w)([^'\s][^'\n]{0,39})'(?!\w)"
    r"|\b([A-Za-z]+(?:_[A-Za-z0-9]+)+)\b"
    r"|(-?\d+(?:[.,:/-]\d+)*)"
)


@lru_cache(maxsize=1 << 14)
def details(text: str) -> frozenset[str]:
    """Return the quoted values, the identifiers with an underscore and the numbers, in lower case.

    Quoted punctuation is no detail: it stands in every text.

    Examples:
        >>> sorted(details("Leave out kind = 'T'; last_order is 90 days back."))
        ['90', 'last_order', 't']
    """
    return frozenset(match[match.lastindex or 0].lower() for match in _DETAIL.finditer(text))


def names(text: str, detail: str) -> bool:
    """Say whether a text names a detail as a word of its own.

    Examples:
        >>> names("kind <> 'T'", "t"), names("total", "t")
        (True, False)
    """
    if text.isascii() and detail.isascii() and detail.lower() not in text.lower():
        return False  # a pattern takes a hundred times as long to make
    return bool(re.search(rf"(?<!\w){re.escape(detail)}(?!\w)", text, re.IGNORECASE))


def shared(text: str, other: str) -> float | None:
    """Return the share of all their details that two texts have in common; `None`: there is none.

    Examples:
        >>> shared("Use stock >= 0.", "Only stock >= 0 counts, -1 does not."), shared("So", "Yes")
        (0.5, None)
    """
    some, others = details(text), details(other)
    either = some | others
    return len(some & others) / len(either) if either else None


def lost(text: str, rule: str) -> tuple[str, ...]:
    """Return the details of a text that a rule made from it no longer names.

    Examples:
        >>> lost("Divide cents by 100.0, not 1000.", "Divide by 100.0.")
        ('1000',)
    """
    return tuple(sorted(detail for detail in details(text) if not names(rule, detail)))


def share_named(answer: str, rule: str) -> float:
    """Return the share of a rule's details that an answer names; 0 where the rule has none."""
    wanted = details(rule)
    return sum(names(answer, detail) for detail in wanted) / len(wanted) if wanted else 0.0
