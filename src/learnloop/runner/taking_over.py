"""Takes finished runs of an archive over into a study, so that they need not be made again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from learnloop.errors import ParameterError, RecordError, ResumeError
from learnloop.records.archive import ArchivedRun, read_archive
from learnloop.records.lines import write_atomically
from learnloop.records.writer import INFO_FILE
from learnloop.runner.conduct import is_run
from learnloop.runner.resume import check_same
from learnloop.runner.spec import RunSpec, make_spec


def take_over(specs: Sequence[RunSpec], *, archive: Path, directory: Path) -> int:
    """Unpack the runs of these specs that the study's directory has not, and return how many.

    Raises:
        RecordError: The archive is not there or damaged, or a run cannot be written.
        ResumeError: A run in it is not the run that its name says.
    """
    if not archive.is_dir():
        raise RecordError(f"no archive in {str(archive)!r}; `learnloop archive` makes one")
    runs = read_archive(archive)
    wanted = [spec for spec in specs if spec.run_id in runs]
    missing = [spec for spec in wanted if not is_run(directory / spec.run_id)]
    for spec in missing:
        _check(runs[spec.run_id], spec)
    for spec in missing:
        _unpack(runs[spec.run_id], directory / spec.run_id)
    return len(missing)


def _check(run: ArchivedRun, spec: RunSpec) -> None:
    where = f"{run.path}, {spec.run_id}"
    check_same(run.info, spec, directory=where)
    try:
        hashes = {run.info.spec_hash, make_spec(**run.info.spec).hash, spec.hash}
    except ParameterError as error:
        raise ResumeError(f"the spec in {where!r} cannot be read: {error}") from error
    if len(hashes) > 1 or not run.info.complete:
        raise ResumeError(f"{where!r} is not the whole run that it says; was it edited?")
    run.read()


def _unpack(run: ArchivedRun, directory: Path) -> None:
    """Write the files of a run, the one that makes it a run last."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in sorted(run.files, key=lambda name: name == INFO_FILE):
            write_atomically(directory / name, run.files[name])
    except RecordError:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    except OSError as error:
        raise RecordError(f"cannot write {str(directory)!r}: {error.strerror}") from error
