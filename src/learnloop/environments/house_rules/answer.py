"""Finds the SQL statement in what a model says."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```(?:[a-z0-9]*[ \t]*\n|sqlite\b|sql\b)?(.*?)(?:```|\Z)", re.I | re.S)
_START = re.compile(r"^[ \t]*(?:(?:sql|answer)[ \t]*:[ \t]*)?(?=(?:select|with)\b)", re.I | re.M)
_STATEMENT = re.compile(r"""(?:'[^']*'|"[^"]*"|--[^\n]*|-(?!-)|[^;'"-])*""")


def parse_sql(reply: str) -> str:
    r"""Return the first statement of a reply, without fence, label, semicolon or prose.

    Examples:
        >>> parse_sql("Here you are:\n```sql\nSELECT 1;\n```\nIt counts to one.")
        'SELECT 1'
        >>> parse_sql("SQL: select ';' ; -- done")
        "select ';'"
    """
    fenced = _FENCE.search(reply)
    text = fenced.group(1) if fenced else reply
    start = _START.search(text)
    text = (text[start.end() :] if start else text).strip()
    statement = _STATEMENT.match(text)
    end = statement.end() if statement else len(text)
    if end < len(text) and text[end] == ";":
        text = text[:end]
    elif not fenced:
        text = re.split(r"\n[ \t]*\n", text, maxsplit=1)[0]
    return text.strip()
