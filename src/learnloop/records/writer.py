"""Writes a run's directory: append-only, one fsync a step, one process at a time."""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from learnloop.errors import RecordError
from learnloop.records.encoding import INFO, STEP, TIMING, encode
from learnloop.records.lines import LineFile, write_atomically
from learnloop.records.schema import RunInfo, StepRecord, StepTiming

INFO_FILE = "run.json"
STEPS_FILE = "steps.jsonl"
TIMINGS_FILE = "timings.jsonl"
LOCK_FILE = "run.lock"
SUMMARIES_FILE = "summaries.jsonl"
SUMMARIES_LOCK_FILE = "summaries.lock"


class RunWriter:
    """Holds a run's directory and appends to its files. Use it in a `with` statement.

    Opening cuts away a torn last line. `steps` and `timings` are the lines that were there.

    Raises:
        RecordError: The directory cannot be written, or another process is writing it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = lock(directory, LOCK_FILE)
        try:
            self._steps = LineFile(directory / STEPS_FILE)
            self._timings = LineFile(directory / TIMINGS_FILE, sync="at_close")
        except RecordError:
            os.close(self._lock)
            raise

    @property
    def steps(self) -> list[bytes]:
        """The encoded steps that were recorded before this writer was opened."""
        return self._steps.lines

    @property
    def timings(self) -> list[bytes]:
        """The encoded timings that were recorded before this writer was opened."""
        return self._timings.lines

    def write_info(self, info: RunInfo) -> None:
        """Write `run.json`, or replace it as a whole, once all steps are on the disk."""
        self._steps.settle()
        write_atomically(self.directory / INFO_FILE, encode(INFO, info))

    def append_step(self, record: StepRecord) -> None:
        """Append one line to `steps.jsonl`."""
        self._steps.append(encode(STEP, record))

    def append_timing(self, timing: StepTiming) -> None:
        """Append one line to `timings.jsonl`."""
        self._timings.append(encode(TIMING, timing))

    def close(self) -> None:
        """Let go of the directory."""
        with ExitStack() as stack:
            stack.callback(os.close, self._lock)
            stack.callback(self._timings.close)
            self._steps.close()

    def abandon(self) -> None:
        """Remove the files of a run that has not made a step, so that nothing is half written."""
        for name in (INFO_FILE, STEPS_FILE, TIMINGS_FILE, LOCK_FILE):
            (self.directory / name).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def lock(directory: Path, name: str) -> int:
    """Take a lock of the directory, which the system lets go of when the process ends, however.

    Returns:
        What closing lets go of.

    Raises:
        RecordError: The directory cannot be written, or another process holds the lock.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        held = os.open(directory / name, os.O_WRONLY | os.O_CREAT, 0o644)
    except OSError as error:
        raise RecordError(
            f"cannot write in {str(directory)!r}: {error.strerror}; give another --out"
        ) from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        raise RecordError(
            f"another process is writing {str(directory)!r}; wait for it, or give another --out"
        ) from error
    return held
