"""One run from its spec to its records: begins it in a directory, or goes on with it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from learnloop.errors import BudgetError, InputError, LearnloopError
from learnloop.records.reader import read_info
from learnloop.records.schema import RunInfo
from learnloop.records.writer import INFO_FILE, RunWriter
from learnloop.runner.budget import Spending
from learnloop.runner.building import (
    Prepared,
    build_method,
    build_sensor,
    remove_database,
    remove_memory,
    run_info,
)
from learnloop.runner.resume import check_same, keep_records
from learnloop.runner.run import Instruments, StepJournal, StepOutcome, explain, run
from learnloop.runner.spec import RunSpec

RESPONSES_FILE = "responses.sqlite"


def is_run(directory: Path) -> bool:
    """Whether there is a run in the directory."""
    return (directory / INFO_FILE).is_file()


def is_complete(directory: Path, spec: RunSpec) -> bool:
    """Whether the directory holds the run of this spec, to its end.

    Raises:
        ResumeError: It holds another run.
        RecordError: It cannot be read.
    """
    if not is_run(directory):
        return False
    info = read_info(directory)
    check_same(info, spec, directory=str(directory))
    return info.complete


def conduct(
    prepared: Prepared,
    *,
    directory: Path,
    spending: Spending,
    responses: Path | None = None,
    resume: bool = False,
) -> Iterator[StepOutcome]:
    """Run into a directory and yield each step, those on record first.

    Responses are kept in the directory, or in a file that other runs share. `resume` goes on with
    the run in the directory, where there is one. Seconds are those of the spending's clock.

    Raises:
        InputError: The directory holds a run already.
        ResumeError: The directory holds another run.
        ReplayError: A step on record comes out otherwise now.
        RecordError: A record cannot be written or read.
    """
    kept = responses or directory / RESPONSES_FILE
    with RunWriter(directory) as writer:
        check_directory(directory, prepared.spec, resume=resume)
        ending = _Ending(length=prepared.length)
        try:
            info = _begin(writer, prepared)
            outcomes = _outcomes(prepared, directory=directory, responses=kept, spending=spending)
            yield from ending.watch(keep_records(outcomes, writer=writer, spending=spending))
        except LearnloopError:
            if not writer.steps and not ending.made:
                _abandon(writer, responses=kept)
            raise
        writer.write_info(ending.put_on(info, why=spending.why_stop()))


def _outcomes(
    prepared: Prepared, *, directory: Path, responses: Path, spending: Spending
) -> Iterator[StepOutcome]:
    spec, journal = prepared.spec, StepJournal()
    with build_method(
        prepared, directory=directory, responses=responses, journal=journal
    ) as method:
        yield from run(
            method,
            prepared.environment,
            sensor=build_sensor(spec, prepared.environment),
            seed=spec.seed,
            steps=spec.steps,
            instruments=Instruments(ledger=prepared.ledger, journal=journal, clock=spending.clock),
        )


def _abandon(writer: RunWriter, *, responses: Path) -> None:
    """Leave nothing of a run that could not make its first step."""
    directory = writer.directory
    writer.abandon()
    remove_memory(directory)
    if responses.parent == directory:
        remove_database(responses)
    with suppress(OSError):
        directory.rmdir()


def check_directory(directory: Path, spec: RunSpec, *, resume: bool) -> None:
    """Raise unless a run of this spec may begin, or go on, in the directory.

    Raises:
        InputError: There is a run in it and `resume` is not set.
        ResumeError: There is another run in it.
    """
    if not is_run(directory):
        return
    if not resume:
        raise InputError(f"there is a run in {str(directory)!r}; pass --resume or another --out")
    check_same(read_info(directory), spec, directory=str(directory))


def _begin(writer: RunWriter, prepared: Prepared) -> RunInfo:
    """Write `run.json` where there is none, and return what it says."""
    if is_run(writer.directory):
        return read_info(writer.directory)
    info = run_info(prepared)
    writer.write_info(info)
    return info


class _Ending:
    """Counts steps, so that it is known whether a run came to its end."""

    def __init__(self, *, length: int) -> None:
        self.length = length
        self.made = 0
        self._over_limit: str | None = None

    def watch(self, outcomes: Iterator[StepOutcome]) -> Iterator[StepOutcome]:
        """Pass the steps on; a call over a limit ends them."""
        try:
            for outcome in outcomes:
                self.made += 1
                yield outcome
        except BudgetError as error:
            self._over_limit = explain(error)

    def put_on(self, info: RunInfo, *, why: str | None) -> RunInfo:
        """Return what `run.json` is to say now."""
        complete = self.made == self.length
        return replace(
            info, complete=complete, stopped=None if complete else self._over_limit or why
        )
