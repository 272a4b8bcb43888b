"""Makes thousands of short runs, spread over processes; each leaves one line in its study."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from types import FrameType
from typing import Protocol

from learnloop.errors import LearnloopError, RecordError
from learnloop.records.reader import read_summaries
from learnloop.records.summaries import SummaryWriter, encode_summary
from learnloop.runner.budget import Spending
from learnloop.runner.building import check_spec
from learnloop.runner.in_memory import InMemory
from learnloop.runner.run import explain
from learnloop.runner.spec import RunSpec
from learnloop.runner.sweep import BY_USER
from learnloop.settings import Settings

STEPS_A_CHUNK = 2000
"""About so many steps go to a process at once: a tenth of a second."""
CHUNKS_AHEAD = 2
"""How many chunks wait for each process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPlan:
    """Runs that leave a line each, and which of them are still to be made."""

    specs: tuple[RunSpec, ...]
    left: tuple[RunSpec, ...]
    length: int

    @property
    def done(self) -> int:
        """How many have left their line."""
        return len(self.specs) - len(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A run that was tried: its line, or why there is none."""

    run_id: str
    line: bytes
    why: str | None = None


class BulkWatcher(Protocol):
    """Is told how the runs go."""

    def made(self, run_id: str, why: str | None) -> None:
        """A run left its line, or failed for the reason given."""
        ...


Work = Callable[[tuple[RunSpec, ...]], list[Made]]


def plan_bulk(specs: Sequence[RunSpec], directory: Path) -> BulkPlan:
    """Check every spec and say which runs are still to be made. Writes nothing.

    Raises:
        InputError: A spec is not good.
        RecordError: A line on record cannot be read.
    """
    streams = [len(check_spec(spec)) for spec in specs]
    lengths = [spec.steps or queries for spec, queries in zip(specs, streams, strict=True)]
    known = {summary.spec_hash for summary in read_summaries(directory)}
    return BulkPlan(
        specs=tuple(specs),
        left=tuple(spec for spec in specs if spec.hash not in known),
        length=max(lengths, default=1),
    )


def make_bulk(
    planned: BulkPlan,
    *,
    directory: Path,
    settings: Settings,
    spending: Spending,
    jobs: int,
    watcher: BulkWatcher,
) -> None:
    """Make every run that has left no line yet, in the order given, over `jobs` processes.

    A run that fails leaves no line and does not keep the others from going on. On Ctrl-C the runs
    under way are finished, and nothing that was made is lost.

    Raises:
        RecordError: The lines cannot be written, or a process was ended from outside.
    """
    if not planned.left:
        return
    work = partial(_make, settings=settings)
    chunks = _chunks(planned, spending)
    with (
        SummaryWriter(directory, clock=spending.clock) as writer,
        _stopped_by_ctrl_c(spending),
    ):
        for made in map(work, chunks) if jobs == 1 else _spread(work, chunks, jobs=jobs):
            for one in made:
                if one.why is None:
                    writer.append(one.line)
                watcher.made(one.run_id, one.why)


def _chunks(planned: BulkPlan, spending: Spending) -> Iterator[tuple[RunSpec, ...]]:
    """Yield what one process gets at once, until the study is to stop."""
    size = max(1, STEPS_A_CHUNK // planned.length)
    for start in range(0, len(planned.left), size):
        if spending.why_stop() is not None:
            return
        yield planned.left[start : start + size]


def _spread(
    work: Work, chunks: Iterable[tuple[RunSpec, ...]], *, jobs: int
) -> Iterator[list[Made]]:
    """Have processes do the work, a few chunks ahead, and yield what comes out in order."""
    waiting: deque[Future[list[Made]]] = deque()
    context = get_context("spawn")  # threads of this process do not survive a fork
    try:
        with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker) as pool:
            for chunk in chunks:
                waiting.append(pool.submit(work, chunk))
                if len(waiting) > CHUNKS_AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise RecordError(
            "a process that made runs was ended from outside (out of memory?); what was made is "
            "kept, the same command goes on, with fewer --jobs if need be"
        ) from error


def _make(specs: tuple[RunSpec, ...], *, settings: Settings) -> list[Made]:
    maker = _maker(settings)
    return [_make_one(maker, spec) for spec in specs]


def _make_one(maker: InMemory, spec: RunSpec) -> Made:
    try:
        return Made(run_id=spec.run_id, line=encode_summary(maker.summarise(spec)))
    except LearnloopError as error:
        return Made(run_id=spec.run_id, line=b"", why=f"failed: {explain(error)}")


@cache
def _maker(settings: Settings) -> InMemory:
    """Return what this process makes its runs with."""
    return InMemory(settings=settings, clock=time.perf_counter)


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that asked for the work, and end when that ends, however."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _stopped_by_ctrl_c(spending: Spending) -> Iterator[None]:
    """Have the first Ctrl-C stop the study at the next run; a second one interrupts as ever."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        spending.ask_to_stop(BY_USER)

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
