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
from learnloop.methods.calls import Span, exactly
from learnloop.records.reader import read_run
from learnloop.runner.budget import Spending
from learnloop.runner.building import prepare
from learnloop.runner.conduct import RESPONSES_FILE, conduct, is_complete, is_run
from learnloop.runner.forecast import Forecast, Share, make_forecast
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome, explain
from learnloop.runner.spec import RunSpec
from learnloop.runner.streams import Streams

State = Literal["new", "begun", "complete"]
BY_USER = "stopped by Ctrl-C"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One run of a study, how far it is, and what it will take.

    Attributes:
        spec: The run.
        directory: Where it is kept.
        length: How many steps it will have.
        state: Whether it was begun.
        steps_done: Steps on record.
        calls_a_step: What runs of the same method in the study took; `None` where there is none.
        forecast: What the whole run will take.
        calls_done: Calls on record.
        note: What the forecast is taken from, where it is not the stream itself.
    """

    spec: RunSpec
    directory: Path
    length: int
    state: State
    steps_done: int
    calls_a_step: float | None
    forecast: Forecast
    calls_done: int = 0
    note: str = ""

    @property
    def steps_left(self) -> int:
        """Steps that are not on record."""
        return self.length - self.steps_done

    @property
    def calls_left(self) -> int:
        """How many calls are still to be made, as far as it can be known."""
        return self.calls_to_come.expected

    @property
    def calls_to_come(self) -> Span:
        """The calls still to make: exact where answers do not decide them and none fails.

        Where they do, what runs on record took goes before what methods expect.
        """
        if not self.steps_left:
            return exactly(0)
        whole = self.forecast.calls
        least = max(whole.at_least - self.calls_done, 0)
        most = None if whole.at_most is None else max(whole.at_most - self.calls_done, least)
        expected = whole.expected - self.calls_done
        if self.calls_a_step is not None:
            expected = round(self.steps_left * self.calls_a_step)
        expected = max(expected, least)
        return Span(
            at_least=least,
            expected=expected if most is None else min(expected, most),
            at_most=most,
        )

    @property
    def shares_to_come(self) -> tuple[Share, ...]:
        """What each model will still read and write, about."""
        return self.forecast.left(self.steps_left / self.length)


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


def plan(specs: Sequence[RunSpec], directory: Path, *, need_data: bool = True) -> list[PlannedRun]:
    """Check every spec and say how far its run is and what it will take.

    Writes nothing, opens no model, and each environment once. Where data is not needed, what is
    published of a benchmark stands in for rows that are not here.

    Raises:
        InputError: A spec is not good.
        ResumeError: A run's directory holds another run.
        RecordError: A run on record cannot be read.
    """
    streams = Streams(need_data=need_data)
    facts = [streams.find(spec) for spec in specs]
    for spec in specs:
        is_complete(directory / spec.run_id, spec)
    kept = [_on_record(directory / spec.run_id) for spec in specs]
    known = _calls_a_step(specs, kept)
    return [
        PlannedRun(
            spec=spec,
            directory=directory / spec.run_id,
            length=spec.steps or one.length,
            state=found.state,
            steps_done=found.steps,
            calls_a_step=known.get(_kind(spec)),
            forecast=make_forecast(spec, one),
            calls_done=found.calls,
            note=one.note,
        )
        for spec, one, found in zip(specs, facts, kept, strict=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnRecord:
    """How much of a run there is."""

    state: State
    steps: int = 0
    calls: int = 0


def _on_record(directory: Path) -> _OnRecord:
    if not is_run(directory):
        return _OnRecord(state="new")
    kept = read_run(directory)
    return _OnRecord(
        state="complete" if kept.info.complete else "begun",
        steps=len(kept.steps),
        calls=sum(len(step.calls) for step in kept.steps),
    )


def _calls_a_step(specs: Sequence[RunSpec], kept: Sequence[_OnRecord]) -> dict[str, float]:
    """Return what is on record of each kind of run."""
    steps: dict[str, int] = {}
    calls: dict[str, int] = {}
    for spec, found in zip(specs, kept, strict=True):
        kind = _kind(spec)
        steps[kind] = steps.get(kind, 0) + found.steps
        calls[kind] = calls.get(kind, 0) + found.calls
    return {kind: calls[kind] / count for kind, count in steps.items() if count}


def _kind(spec: RunSpec) -> str:
    return json.dumps([spec.method, spec.method_params, spec.feedback], sort_keys=True)
