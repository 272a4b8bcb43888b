"""Finds the SQL statement in what a model says."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```(?:[a-z0-9]*[ \t]*\n|sqlite\b|sql\b)?(.*?)(?:```|\Z)", re.I | re.S)
_START = re.compile(r"^[ \t]*(?:(?:sql|answer)[ \t]*:[ \t]*)?(?=(?:select|with)\b)", re.I | re.M)
_PROSE = re.compile(
    r"\n[ \t]*\n(?!\s*(?:[(),]|(?:select|from|where|and|or|group|having|order|limit|union|except"
    r"|intersect|join|left|inner|cross|on|case|when|end)\b))",
    re.I,
)
_MOST_READ = 25_000  # more than any grader takes, and little enough to search at once
_STATEMENT = re.compile(r"""(?:'[^']*'|"[^"]*"|--[^\n]*|-(?!-)|[^;'"-])*""")


def parse_sql(reply: str) -> str:
    r"""Return the first statement of a reply, without fence, label, semicolon or prose.

    Examples:
        >>> parse_sql("Here you are:\n```sql\nSELECT 1;\n```\nIt counts to one.")
        'SELECT 1'
        >>> parse_sql("SQL: select ';' ; -- done")
        "select ';'"
    """
    reply = reply[:_MOST_READ]
    fenced = _FENCE.search(reply)
    text = fenced.group(1) if fenced else reply
    start = _START.search(text)
    text = (text[start.end() :] if start else text).strip()
    if not fenced:
        text = _PROSE.split(text, maxsplit=1)[0]
    statement = _STATEMENT.match(text)
    end = statement.end() if statement else len(text)
    return (text[:end] if text[end : end + 1] == ";" else text).strip()
