"""Writes a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Cells = Sequence[str]


def markdown_table(heads: Cells, lines: Sequence[Cells], *, words: int = 1) -> str:
    """Return a table whose first columns hold words, and the others numbers."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join("| " + " | ".join(map(_escape, line)) + " |" for line in (heads, rule, *lines))


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
