"""Bars for what takes long, such as downloads, and sizes for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from learnloop.fetching import Progress as Report

Watch = Callable[[str, int | None], Report]


@contextmanager
def watched() -> Iterator[Watch]:
    """Show a bar for everything that takes long, on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=Console(stderr=True)) as bars:

        def watch(what: str, total: int | None) -> Report:
            task = bars.add_task(what, total=total)
            return lambda done: bars.advance(task, done)

        yield watch


def size(count: int) -> str:
    """Return a number of bytes for people.

    Examples:
        >>> size(1_117_320_768), size(205_800_266), size(35_901)
        ('1.1 GB', '206 MB', '36 kB')
    """
    for unit, word in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            number = count / unit
            return f"{number:.1f} {word}" if unit == 10**9 else f"{number:.0f} {word}"
    return f"{count} bytes"
