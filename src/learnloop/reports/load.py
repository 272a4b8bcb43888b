"""Finds runs and reads them: the one module of the reports that opens records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from learnloop.errors import DataError, RecordError
from learnloop.records.archive import is_archive, read_archive
from learnloop.records.reader import RunRecords, find_runs, read_run, read_summaries
from learnloop.records.run_summary import RunSummary
from learnloop.records.schema import RunInfo, StepRecord, StepTiming
from learnloop.records.writer import INFO_FILE, SUMMARIES_FILE
from learnloop.reports.editor_alone import FILE, EditorAlone, read_editor_alone


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All that a report is made from: whole records, runs of which a summary is left, editors."""

    runs: tuple[Run, ...]
    summaries: tuple[RunSummary, ...] = ()
    editors: tuple[EditorAlone, ...] = ()


def load_material(folders: Sequence[Path]) -> Material:
    """Read every run in or under the folders, each once, the whole record where there is one.

    Raises:
        DataError: A folder does not exist, or holds nothing to report.
        RecordError: A file cannot be read; the message names file and line.
    """
    lines = {one.run_id: one for folder in folders for one in _summaries_under(folder)}
    editors = [read_editor_alone(file) for folder in folders for file in _files(folder, FILE)]
    only_runs = not lines and not editors
    with_runs = [folder for folder in folders if only_runs or _holds_runs(folder)]
    runs = load_runs(with_runs)
    known = {run.info.run_id for run in runs}
    kept = [one for run_id, one in lines.items() if run_id not in known]
    return Material(runs=tuple(runs), summaries=tuple(kept), editors=tuple(editors))


def load_runs(folders: Sequence[Path]) -> list[Run]:
    """Read every run in or under the folders, sorted by folder, then those packed in them, once.

    Raises:
        DataError: A folder does not exist, or holds no run.
        RecordError: A file cannot be read; the message names file and line.
    """
    packed = {run_id: run for folder in folders for run_id, run in read_archive(folder).items()}
    unpacked = [load_run(folder) for folder in _run_folders(folders)]
    known = {run.info.run_id for run in unpacked}
    return unpacked + [_run(run.read()) for run_id, run in packed.items() if run_id not in known]


def load_run(folder: Path) -> Run:
    """Read one run directory."""
    return _run(read_run(folder))


def _run(records: RunRecords) -> Run:
    return Run(
        folder=records.directory, info=records.info, steps=records.steps, timings=records.timings
    )


def _run_folders(folders: Sequence[Path]) -> list[Path]:
    found: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"no folder {str(folder)!r}; give run directories, or folders of runs")
        if is_archive(folder) and _holds_no_run(folder):
            continue
        try:
            found |= {path.resolve(): path for path in find_runs(folder)}
        except RecordError as error:
            raise DataError(f"{error}; `learnloop run` makes one") from error
    return sorted(found.values())


def _summaries_under(folder: Path) -> list[RunSummary]:
    files = _files(folder, SUMMARIES_FILE)
    return [one for file in files for one in read_summaries(file.parent)]


def _files(folder: Path, name: str) -> list[Path]:
    return sorted(folder.rglob(name))


def _holds_runs(folder: Path) -> bool:
    return is_archive(folder) or not _holds_no_run(folder)


def _holds_no_run(folder: Path) -> bool:
    return folder.is_dir() and next(folder.rglob(INFO_FILE), None) is None


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
