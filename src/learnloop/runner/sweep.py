"""Runs the runs of a study, several at a time over one model and one cache of responses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from learnloop.errors import LearnloopError
from learnloop.llm.absent import NO_MODEL
from learnloop.records.reader import read_run
from learnloop.runner.budget import Spending
from learnloop.runner.building import check_spec, prepare
from learnloop.runner.conduct import RESPONSES_FILE, conduct, is_complete, is_run
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome, explain
from learnloop.runner.spec import RunSpec

State = Literal["new", "begun", "complete"]
BY_USER = "stopped by Ctrl-C"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One run of a study, and how far it is.

    `calls_a_step` is what runs of the same method in the study took, `None` where there is none
    yet.
    """

    spec: RunSpec
    directory: Path
    length: int
    state: State
    steps_done: int
    calls_a_step: float | None

    @property
    def steps_left(self) -> int:
        """Steps that are not on record."""
        return self.length - self.steps_done

    @property
    def calls_left(self) -> int:
        """An estimate of the calls still to make; one a query where nothing is known."""
        if self.spec.model == NO_MODEL:
            return 0
        return round(self.steps_left * (self.calls_a_step or 1.0))


class Watcher(Protocol):
    """Is told how the runs go, from several threads."""

    def stepped(self, planned: PlannedRun, outcome: StepOutcome) -> None:
        """One step was made."""
        ...

    def ended(self, planned: PlannedRun, why: str | None) -> None:
        """A run came to its end, or to a stop for the reason given."""
        ...


def study_directory(name: str) -> Path:
    """Return where a study of that name is kept, unless told otherwise.

    Examples:
        >>> study_directory("house rules, 3 seeds").name
        'house-rules-3-seeds'
    """
    return Path("runs") / (re.sub(r"[^\w.=+]+", "-", name).strip("-") or "study")


def plan(specs: Sequence[RunSpec], directory: Path) -> list[PlannedRun]:
    """Check every spec and say how far its run is. Writes nothing, opens no model.

    Raises:
        InputError: A spec is not good.
        ResumeError: A run's directory holds another run.
        RecordError: A run on record cannot be read.
    """
    streams = [len(check_spec(spec)) for spec in specs]
    for spec in specs:
        is_complete(directory / spec.run_id, spec)
    known = _calls_a_step(directory, specs)
    return [
        _planned(
            spec,
            directory / spec.run_id,
            length=spec.steps or queries,
            calls=known.get(_kind(spec)),
        )
        for spec, queries in zip(specs, streams, strict=True)
    ]


def sweep(
    planned: Sequence[PlannedRun],
    *,
    directory: Path,
    resources: Resources,
    spending: Spending,
    jobs: int,
    watcher: Watcher,
) -> None:
    """Make every run that is not complete, `jobs` at a time, in the order given.

    A run that fails does not keep the others from going on; the watcher is told why. On Ctrl-C
    each run under way makes its step and stops.
    """

    def one(run: PlannedRun) -> None:
        watcher.ended(run, _conduct(run, directory, resources, spending, watcher))

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(one, run) for run in planned if run.state != "complete"]
        try:
            wait(futures)
        except KeyboardInterrupt:
            spending.ask_to_stop(BY_USER)
            wait(futures)
        _raise_first(futures)


def _conduct(
    run: PlannedRun,
    directory: Path,
    resources: Resources,
    spending: Spending,
    watcher: Watcher,
) -> str | None:
    """Make one run and return why it is not complete."""
    why = spending.why_stop()
    if why is not None:
        return why
    try:
        outcomes = conduct(
            prepare(run.spec, resources),
            directory=run.directory,
            spending=spending,
            responses=directory / RESPONSES_FILE,
            resume=True,
        )
        for outcome in outcomes:
            watcher.stepped(run, outcome)
        return None if is_complete(run.directory, run.spec) else spending.why_stop()
    except LearnloopError as error:
        return f"failed: {explain(error)}"


def _raise_first(futures: Sequence[Future[None]]) -> None:
    """Let a fault of our own come up, rather than vanish in a thread."""
    for future in futures:
        future.result()


def _planned(spec: RunSpec, directory: Path, *, length: int, calls: float | None) -> PlannedRun:
    if not is_run(directory):
        state: State = "new"
        done = 0
    else:
        records = read_run(directory)
        state = "complete" if records.info.complete else "begun"
        done = len(records.steps)
    return PlannedRun(
        spec=spec,
        directory=directory,
        length=length,
        state=state,
        steps_done=done,
        calls_a_step=calls,
    )


def _calls_a_step(directory: Path, specs: Sequence[RunSpec]) -> dict[str, float]:
    """Return what is on record of each kind of run."""
    steps: dict[str, int] = {}
    calls: dict[str, int] = {}
    for spec in specs:
        if not is_run(directory / spec.run_id):
            continue
        kind = _kind(spec)
        for record in read_run(directory / spec.run_id).steps:
            steps[kind] = steps.get(kind, 0) + 1
            calls[kind] = calls.get(kind, 0) + len(record.calls)
    return {kind: calls[kind] / count for kind, count in steps.items()}


def _kind(spec: RunSpec) -> str:
    return json.dumps([spec.method, spec.method_params, spec.feedback], sort_keys=True)
