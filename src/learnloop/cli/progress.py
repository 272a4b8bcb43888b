"""Shows runs while they go on: a live table, or plain lines where there is no terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from learnloop.records.schema import StepRecord, StepTiming
from learnloop.records.summary import Summary, summarise
from learnloop.runner.run import StepOutcome

PLAIN_EVERY = 10
"""Without a terminal, one line in so many steps."""
RESERVED = 4
"""Lines of a terminal that are left to headings and counts."""
WAITING = "waiting"
RUNNING = "running"


@dataclass(slots=True, kw_only=True)
class Track:
    """How far one run is. `state` is a word for people."""

    name: str
    length: int
    state: str = WAITING
    steps: list[StepRecord] = field(default_factory=list)
    timings: list[StepTiming] = field(default_factory=list)

    def add(self, outcome: StepOutcome) -> None:
        """Count one step."""
        self.state = RUNNING
        self.steps.append(outcome.record)
        self.timings.append(outcome.timing)

    @property
    def summary(self) -> Summary:
        """The numbers so far."""
        return summarise(self.steps, self.timings)


class Progress:
    """Draws the tracks of one or several runs. Use it in a `with` statement.

    Args:
        console: Where to draw.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._tracks: list[Track] = []
        self._lock = Lock()
        self._live = Live(console=console, get_renderable=self._table, refresh_per_second=4)

    def track(self, name: str, *, length: int) -> Track:
        """Add a run."""
        track = Track(name=name, length=length)
        with self._lock:
            self._tracks.append(track)
        return track

    def add(self, track: Track, outcome: StepOutcome) -> None:
        """Show one more step of a run."""
        with self._lock:
            track.add(outcome)
        number = len(track.steps)
        if not self.console.is_terminal and (number % PLAIN_EVERY == 0 or number == track.length):
            self.console.print(_line(track), soft_wrap=True, highlight=False, markup=False)

    def finish(self, track: Track, state: str) -> None:
        """Show how a run ended."""
        with self._lock:
            track.state = state

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def _table(self) -> Table:
        with self._lock:
            return progress_table(self._tracks, rows=self.console.height - RESERVED)


def progress_table(tracks: Sequence[Track], *, rows: int) -> Table:
    """Return one row a run: how far, how good, at what cost.

    Where there are more runs than rows, those under way are shown and the others counted.
    """
    shown = list(tracks) if len(tracks) <= rows else _under_way(tracks, rows)
    table = Table(box=None, pad_edge=False, caption=_count_hidden(tracks, shown))
    table.add_column("run", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for track in shown:
        table.add_row(track.name, *_cells(track))
    return table


def _under_way(tracks: Sequence[Track], rows: int) -> list[Track]:
    return [track for track in tracks if track.state == RUNNING][:rows]


def _count_hidden(tracks: Sequence[Track], shown: Sequence[Track]) -> str | None:
    if len(shown) == len(tracks):
        return None
    states = Counter(track.state for track in tracks)
    return ", ".join(f"{count} {state}" for state, count in states.items())


def percent(share: float | None) -> str:
    """Return a share as it is shown, a dash where there is none yet.

    Examples:
        >>> percent(0.254), percent(None)
        ('25.4 %', '–')
    """
    return "–" if share is None else f"{100 * share:.1f} %"


def _cells(track: Track) -> list[str]:
    summary = track.summary
    pace = f"{summary.seconds / summary.steps:.2f}" if summary.steps else "–"
    return [
        f"{summary.steps}/{track.length}",
        percent(summary.accuracy),
        str(summary.failed),
        f"{summary.calls:,}",
        f"{summary.tokens_in:,}",
        f"{summary.tokens_out:,}",
        pace,
        track.state,
    ]


def _line(track: Track) -> str:
    summary = track.summary
    return (
        f"{track.name}: step {summary.steps}/{track.length}, accuracy {percent(summary.accuracy)}, "
        f"{summary.calls:,} calls, {summary.tokens_in + summary.tokens_out:,} tokens, "
        f"{summary.seconds / summary.steps:.2f} s a step"
    )


_HEADINGS = ("step", "accuracy", "failed", "calls", "read", "written", "s/step", "state")
