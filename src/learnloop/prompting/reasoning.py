"""Asks for reasoning before the answer, and tells the two apart in what a model says."""

from __future__ import annotations

import re
from dataclasses import dataclass

MARKER = "FINAL ANSWER:"

_MARKERS = re.compile(
    r"^[ \t]*(?:#{2,6}[ \t]+)?[*_]{0,3}final answer[*_]{0,3}[ \t]*:[*_]{0,3}", re.I | re.M
)
_WITHIN_A_LINE = re.compile(re.escape(MARKER))
_LABEL = re.compile(r"\s*[*_]{0,3}reasoning[*_]{0,3}[ \t]*:[*_]{0,3}", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoned:
    """A reply in its two parts; `rationale` is empty where they cannot be told apart."""

    rationale: str
    answer: str


def split_reply(reply: str) -> Reasoned:
    r"""Split a reply at its last marker; where there is none, the whole of it is the answer.

    The marker begins a line, in any case, plain, bold or as a heading; where none does, one within
    a line counts that is written as asked for.

    Examples:
        >>> split_reply("Reasoning: two and two\nFINAL ANSWER: 4")
        Reasoned(rationale='two and two', answer='4')
        >>> split_reply("4")
        Reasoned(rationale='', answer='4')
    """
    markers = list(_MARKERS.finditer(reply)) or list(_WITHIN_A_LINE.finditer(reply))
    if not markers:
        return Reasoned(rationale="", answer=reply)
    last = markers[-1]
    before = reply[: last.start()]
    label = _LABEL.match(before)
    rationale = before[label.end() :] if label else before
    return Reasoned(rationale=rationale.strip(), answer=reply[last.end() :].strip())


REASONING_LABEL = "Reasoning:"

REASONING_REQUEST = (
    "Before you answer, reason step by step, in a few sentences. Then write a line that begins "
    f"with {MARKER} and after it the answer alone, in the form that was asked for."
)
