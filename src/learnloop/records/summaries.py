"""Writes the lines of a study whose runs leave a summary each: append-only, in short batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from learnloop.errors import RecordError
from learnloop.records.encoding import SUMMARY, encode
from learnloop.records.lines import LineFile
from learnloop.records.run_summary import RunSummary
from learnloop.records.writer import SUMMARIES_FILE, SUMMARIES_LOCK_FILE, lock

FLUSH_SECONDS = 1.0
"""A summary waits no longer than this before it is written, with those that came since."""


class SummaryWriter:
    """Holds the summaries of a study and appends to them. Use it in a `with` statement.

    Opening cuts away a torn last line; leaving writes what waits, however it is left.

    Args:
        directory: Of the study.
        clock: In seconds.

    Raises:
        RecordError: The directory cannot be written, or another process is writing it.
    """

    def __init__(self, directory: Path, *, clock: Callable[[], float]) -> None:
        self.directory = directory
        self.clock = clock
        self._lock = lock(directory, SUMMARIES_LOCK_FILE)
        self._waiting: list[bytes] = []
        self._written = clock()
        try:
            self._file = LineFile(directory / SUMMARIES_FILE)
        except RecordError:
            os.close(self._lock)
            raise

    def append(self, line: bytes) -> None:
        """Take one encoded summary.

        Raises:
            RecordError: It cannot be written; the lines before stay whole.
        """
        self._waiting.append(line)
        if self.clock() - self._written >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits, and wait until it is on the disk."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._file.append(b"".join(waiting))
        self._written = self.clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.flush()
        finally:
            self._file.close()
            os.close(self._lock)


def encode_summary(summary: RunSummary) -> bytes:
    """Return the summary as one line with its newline."""
    return encode(SUMMARY, summary)
