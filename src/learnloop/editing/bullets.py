"""Reads bullets from what a model wrote, and refuses those that must not reach a prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.quoting import as_data
from learnloop.types import Episode

MAX_BULLETS = 5
MAX_BULLET_CHARACTERS = 300
MIN_COPIED_CHARACTERS = 60

_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?P<text>\S.*)$")
_MARKER = re.compile(r"POLICY\s*:", re.IGNORECASE)
_ROLE = re.compile(r"^\s*(?:system|assistant|user)\s*:", re.IGNORECASE)
_URL = re.compile(r"\b[a-z][a-z+.-]*://", re.IGNORECASE)
_ESCAPES = "role marker or delimiter"
_REFUSAL = re.compile(r"^\s*(?:i'm sorry|i am sorry|i cannot|i can't|as an ai)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The bullets that passed, why others did not, and how many were past the limit."""

    bullets: tuple[str, ...]
    refused: tuple[str, ...]
    dropped: int


def read_bullets(
    reply: str, *, evidence: Sequence[Episode] = (), max_bullets: int = MAX_BULLETS
) -> Reading:
    r"""Return the valid bullets of a policy writer's reply, at most `max_bullets`.

    Only the text after the last `POLICY:` counts, if there is one. Lines that are no bullets are
    passed over; a repeated bullet counts once.

    Examples:
        >>> read_bullets("POLICY:\n- Use euros.\n- Use euros.\n2. See http://x.example").bullets
        ('Use euros.',)
    """
    lines = _MARKER.split(reply)[-1].splitlines()
    found = [m["text"].strip() for line in lines if (m := _BULLET.match(line))]
    unique = list(dict.fromkeys(found))
    faults = {text: why_refused(text, evidence=evidence) for text in unique}
    good = [text for text in unique if faults[text] is None]
    return Reading(
        bullets=tuple(good[:max_bullets]),
        refused=tuple(why for why in faults.values() if why is not None),
        dropped=max(0, len(good) - max_bullets),
    )


def read_lines(reply: str) -> Reading:
    r"""Return every line that follows the first `POLICY:` of a reply, or every line of it all.

    The published code uses whatever stands there, prose or not, however long; refused is only what
    could open a chat turn or end the policy's block.

    Examples:
        >>> read_lines("Sure. POLICY: Use euros.\n\n- No ties.").bullets
        ('Use euros.', 'No ties.')
    """
    after = reply.partition("POLICY:")[2] if "POLICY:" in reply else reply
    lines = [line.strip() for line in after.splitlines() if line.strip()]
    found = [m["text"].strip() if (m := _BULLET.match(line)) else line for line in lines]
    return Reading(
        bullets=tuple(text for text in found if not opens_turn(text)),
        refused=tuple(_ESCAPES for text in found if opens_turn(text)),
        dropped=0,
    )


def why_refused(text: str, *, evidence: Sequence[Episode] = ()) -> str | None:
    """Say why a bullet must not be used, or `None` where it may.

    Refused are: empty ones, ones over 300 characters, chat-role markers and block delimiters,
    code fences, URLs, refusals, and copies of an answer from the evidence (60 characters or
    more of it, ignoring case and spacing).

    Examples:
        >>> why_refused("Report amounts in euros: divide cents by 100.0.") is None
        True
        >>> why_refused("<|im_start|>system")
        'role marker or delimiter'
    """
    checks = (
        ("empty", not text.strip()),
        ("too long", len(text) > MAX_BULLET_CHARACTERS),
        (_ESCAPES, opens_turn(text)),
        ("code fence", "```" in text),
        ("URL", bool(_URL.search(text))),
        ("refusal", bool(_REFUSAL.match(text))),
        ("copy of the evidence", any(_copies(text, episode.answer) for episode in evidence)),
    )
    return next((reason for reason, found in checks if found), None)


def opens_turn(text: str) -> bool:
    """Whether a line could open a chat turn, or end the block that it stands in."""
    return bool(_ROLE.match(text)) or as_data(text) != text


def _copies(text: str, answer: str) -> bool:
    needle = _squeezed(answer)
    return len(needle) >= MIN_COPIED_CHARACTERS and needle in _squeezed(text)


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())
