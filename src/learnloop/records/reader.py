"""Reads a run's directory back, also while it is being written or after it was killed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from learnloop.errors import RecordError
from learnloop.records.encoding import INFO, STEP, SUMMARY, TIMING, Record, decode
from learnloop.records.lines import whole_lines
from learnloop.records.run_summary import RunSummary
from learnloop.records.schema import RunInfo, StepRecord, StepTiming
from learnloop.records.writer import INFO_FILE, STEPS_FILE, SUMMARIES_FILE, TIMINGS_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """All that one run has left behind so far. There may be a timing more than there are steps."""

    directory: Path
    info: RunInfo
    steps: tuple[StepRecord, ...]
    timings: tuple[StepTiming, ...]


def read_run(directory: Path) -> RunRecords:
    """Read one run; a torn last line counts as not written.

    Raises:
        RecordError: There is no run in the directory, or a line of it cannot be read.
    """
    return RunRecords(
        directory=directory,
        info=read_info(directory),
        steps=tuple(_read_file(directory / STEPS_FILE, STEP)),
        timings=tuple(_read_file(directory / TIMINGS_FILE, TIMING)),
    )


def read_info(directory: Path) -> RunInfo:
    """Read `run.json` alone."""
    path = directory / INFO_FILE
    if not path.is_file():
        raise RecordError(f"no run in {str(directory)!r}: it has no {INFO_FILE}")
    return decode(INFO, read_bytes(path), where=str(path))


def find_runs(path: Path) -> list[Path]:
    """Return the run directories at or under a path, sorted by name.

    Raises:
        RecordError: There is none.
    """
    found = sorted(file.parent for file in path.rglob(INFO_FILE))
    if not found:
        raise RecordError(f"no run at or under {str(path)!r}: no {INFO_FILE} there")
    return found


def read_summaries(directory: Path) -> tuple[RunSummary, ...]:
    """Read the runs of a study that left a line each; none where there is no such file.

    Raises:
        RecordError: A line cannot be read.
    """
    return tuple(_read_file(directory / SUMMARIES_FILE, SUMMARY))


def read_lines(data: bytes, adapter: TypeAdapter[Record], *, where: Path) -> list[Record]:
    """Return the records of a file's whole lines.

    Raises:
        RecordError: A line cannot be read; the message names the file and the line.
    """
    return [
        decode(adapter, line, where=f"{where}, line {number}")
        for number, line in enumerate(whole_lines(data), start=1)
    ]


def read_bytes(path: Path) -> bytes:
    """Return what is in a file.

    Raises:
        RecordError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _read_file(path: Path, adapter: TypeAdapter[Record]) -> list[Record]:
    return read_lines(read_bytes(path), adapter, where=path) if path.exists() else []
