"""Draws how runs learn, in a terminal, while they go on: a curve a method and its last answer."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from learnloop.cli.progress import Track, percent

BLOCKS = "▁▂▃▄▅▆▇█"
WINDOW = 10
COLOURS = ("bright_black", "cyan", "magenta", "yellow")


def curves(tracks: Sequence[Track], *, width: int) -> Group:
    """Return the curves of all tracks over each other, then the newest answer.

    Each curve is the share of right answers among the last ten, one block a few steps, so that
    one eighth of a line is one eighth of right answers.
    """
    table = Table(box=None, pad_edge=False, expand=False)
    table.add_column("method", no_wrap=True)
    table.add_column(f"right among the last {WINDOW}, by step", no_wrap=True)
    for heading in ("now", "all", "step", "calls"):
        table.add_column(heading, justify="right", no_wrap=True)
    room = max(10, width - 64)
    for number, track in enumerate(tracks):
        table.add_row(*_row(track, room=room, colour=COLOURS[number % len(COLOURS)]))
    return Group(table, _newest(tracks))


def sparkline(scores: Sequence[float], *, length: int, room: int) -> str:
    """Return the rolling share of right answers as blocks, for a stream of `length` steps.

    Examples:
        >>> sparkline([0, 0, 1, 1], length=8, room=8)
        '▁▁▃▅'
    """
    cells = min(room, length)
    drawn = len(scores) * cells // length if length else 0
    ends = [max(1, round((cell + 1) * length / cells)) for cell in range(drawn)]
    shares = [_mean(scores[max(0, end - WINDOW) : end]) for end in ends]
    return "".join(BLOCKS[round(share * (len(BLOCKS) - 1))] for share in shares)


def _row(track: Track, *, room: int, colour: str) -> tuple[RenderableType, ...]:
    scores = [record.score for record in track.steps]
    line = sparkline(scores, length=track.length, room=room)
    now = percent(_mean(scores[-WINDOW:])) if scores else "–"
    summary = track.summary
    return (
        Text(track.name, style=colour),
        Text(line.ljust(min(room, track.length), "·"), style=colour),
        Text(now, style="bold"),
        percent(summary.accuracy),
        f"{summary.steps}/{track.length}",
        f"{summary.calls}",
    )


def _newest(tracks: Sequence[Track]) -> RenderableType:
    """Return what the track that is furthest on has just answered."""
    begun = [track for track in tracks if track.steps]
    if not begun:
        return Text("waiting for the first answer …", style="dim")
    track = max(begun, key=lambda one: len(one.steps))
    record = track.steps[-1]
    mark = Text("right ", style="green") if record.score >= 1 else Text("wrong ", style="red")
    said = next((f.comment for f in record.feedback if f.comment), None)
    lines = [Text(record.query, style="bold"), mark + Text(" ".join(record.answer.split()))]
    if said:
        lines.append(Text(f"feedback: {said}", style="yellow"))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Panel(Group(*lines), title=f"{track.name}, step {len(track.steps)}", title_align="left")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
