"""Draws control runs in a terminal as they go: when each was right, when its prompt changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from learnloop.cli.progress import Track, percent
from learnloop.records.schema import StepRecord

RIGHT, PARTLY, WRONG, AHEAD = "█", "▄", "▁", "·"
CHANGED = "▲"
CHANGES = ("prompt_changed", "recalled", "rolled_back")
TAKEN = 43
"""Columns beside the strip: a name of seven letters, four numbers, and what is between them."""


def strips(tracks: Sequence[Track], *, width: int) -> Group:
    """Return one strip a run: full where it was right, low where it was wrong, ▲ at a change."""
    table = Table(box=None, pad_edge=False, expand=False)
    table.add_column("method", no_wrap=True)
    table.add_column(f"{RIGHT} right  {WRONG} wrong  {CHANGED} prompt changed", no_wrap=True)
    for heading in ("right", "changes", "calls", "step"):
        table.add_column(heading, justify="right", no_wrap=True)
    room = max(10, width - TAKEN)
    for track in tracks:
        table.add_row(*_row(track, room=room))
    return Group(table)


def strip(scores: Sequence[float], *, length: int, room: int) -> str:
    """Return how right a stream of `length` steps was so far, in at most `room` cells.

    Examples:
        >>> strip([1, 1, 0, 0, 1, 0], length=8, room=4)
        '█▁▄·'
    """
    cells = min(room, length)
    shares = [_mean(scores[start:end]) for start, end in _spans(length, cells)]
    return "".join(AHEAD if share is None else _block(share) for share in shares)


def marks(steps: Sequence[StepRecord], *, length: int, room: int) -> str:
    """Return a line under the strip that marks where the prompt changed."""
    changed = {step.step for step in steps if any(e.kind in CHANGES for e in step.events)}
    spans = _spans(length, min(room, length))
    return "".join(CHANGED if changed & set(range(*span)) else " " for span in spans)


def count_changes(steps: Sequence[StepRecord]) -> int:
    """Return how often the prompt changed: edits, recalls and rollbacks."""
    return sum(event.kind in CHANGES for step in steps for event in step.events)


def _row(track: Track, *, room: int) -> tuple[RenderableType, ...]:
    steps = track.steps
    line = strip([step.score for step in steps], length=track.length, room=room)
    below = marks(steps, length=track.length, room=room)
    return (
        Text(track.name, style="bold"),
        Text.assemble((line, "green"), "\n", (below, "yellow")),
        percent(track.summary.accuracy),
        str(count_changes(steps)),
        str(track.summary.calls),
        f"{len(steps)}/{track.length}",
    )


def _spans(length: int, cells: int) -> list[tuple[int, int]]:
    """Return the steps that each cell stands for."""
    edges = [round(cell * length / cells) for cell in range(cells + 1)] if cells else [0]
    return list(zip(edges, edges[1:], strict=False))


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


def _block(share: float) -> str:
    if share in (0.0, 1.0):
        return RIGHT if share else WRONG
    return PARTLY
