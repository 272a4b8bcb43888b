"""Finds runs and reads them: the one module of the reports that opens records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from learnloop.errors import DataError, RecordError
from learnloop.records.reader import find_runs, read_run
from learnloop.records.schema import RunInfo, StepRecord, StepTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run as its directory tells it. Steps are in stream order."""

    folder: Path
    info: RunInfo
    steps: tuple[StepRecord, ...]
    timings: tuple[StepTiming, ...]

    @property
    def seed(self) -> int:
        """The seed of the stream, 0 where the spec names none."""
        return _whole_number(self.info.spec.get("seed")) or 0

    @property
    def planned(self) -> int | None:
        """How many steps the spec asked for, `None` where it asked for the whole stream."""
        return _whole_number(self.info.spec.get("steps"))

    @property
    def feedback(self) -> str:
        """What of the feedback arrived, in the words of the spec."""
        return str(self.info.spec.get("feedback", ""))

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of every step, failed ones included (they score 0)."""
        return tuple(record.score for record in self.steps)


def load_runs(folders: Sequence[Path]) -> list[Run]:
    """Read every run in or under the folders, sorted by folder, each once.

    Raises:
        DataError: A folder does not exist, or holds no run.
        RecordError: A file cannot be read; the message names file and line.
    """
    return [load_run(folder) for folder in _run_folders(folders)]


def load_run(folder: Path) -> Run:
    """Read one run directory."""
    records = read_run(folder)
    return Run(folder=folder, info=records.info, steps=records.steps, timings=records.timings)


def _run_folders(folders: Sequence[Path]) -> list[Path]:
    found: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"no folder {str(folder)!r}; give run directories, or folders of runs")
        try:
            found |= {path.resolve(): path for path in find_runs(folder)}
        except RecordError as error:
            raise DataError(f"{error}; `learnloop run` makes one") from error
    return sorted(found.values())


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
