"""Finds the Python code in what a model says, and writes it the way a model should."""

from __future__ import annotations

import re

_TAGGED = re.compile(
    r"```[ \t]*(?:python3?|py)[ \t]*\r?\n(.*?)(?:^[ \t]*```|\Z)", re.I | re.S | re.M
)
_FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.S | re.M)
_MARKERS = re.compile(
    r"^[ \t]*(?:</?code>|(?:#+ )?(?:BEGIN|END) SOLUTION|# SOLUTION (?:START|END))[ \t]*$", re.M
)
_PUBLISHED = re.compile(r"```python(.*?)```", re.S)
_EMPTY_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_OPEN, _CLOSE = "```python\n", "\n```"


def parse_code(reply: str) -> str:
    r"""Return the code of a reply in a fence: of the first Python block, else of the first one.

    A block that is not closed ends with the reply. Where there is no block, the code stands
    between the markers that the problems use, or is the whole reply. Indentation stays.

    Examples:
        >>> print(parse_code("Sure:\n```py\n    return x\n```\nIt returns x."))
        ```python
            return x
        ```
        >>> print(parse_code("BEGIN SOLUTION\n<code>\nresult = 1\n</code>"))
        ```python
        result = 1
        ```
    """
    found = _TAGGED.search(reply) or _FENCED.search(reply)
    return in_fence(found.group(1) if found else _between_markers(reply))


def parse_published_code(reply: str) -> str:
    r"""Return the first closed block that says `python`, else the whole reply, as published.

    Examples:
        >>> parse_published_code("```python\nx = 1\n```")
        '\nx = 1\n'
        >>> parse_published_code("```py\nx = 1\n```")
        '```py\nx = 1\n```'
    """
    found = _PUBLISHED.search(reply)
    return found.group(1) if found else reply


def in_fence(code: str) -> str:
    """Return code in a fence, as an answer is written; empty lines around it go."""
    lines = code.rstrip().replace("\r\n", "\n")
    return _OPEN + _EMPTY_LINES.sub("", lines) + _CLOSE


def out_of_fence(answer: str) -> str:
    r"""Return the code of an answer that `in_fence` wrote; any other is code as it stands.

    Examples:
        >>> out_of_fence(in_fence("    return 1"))
        '    return 1'
    """
    if answer.startswith(_OPEN) and answer.endswith(_CLOSE):
        return answer[len(_OPEN) : -len(_CLOSE)]
    return answer


def _between_markers(reply: str) -> str:
    """Return the first part of a reply that has code in it, of the parts that markers divide."""
    parts = _MARKERS.split(reply)
    return next((part for part in parts if part.strip()), "")
