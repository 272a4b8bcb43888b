"""`learnloop study`: a grid of runs from a file, with live progress, budgets and resume."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.cli.bulk import Tally, arms_as_json, arms_table, make_arms
from learnloop.cli.forecast import show_forecast
from learnloop.cli.preparing import make_ready
from learnloop.cli.progress import Progress, Track, percent
from learnloop.errors import ParameterError
from learnloop.llm.endpoints import Endpoints
from learnloop.llm.tariff import Tariff
from learnloop.records.reader import read_run, read_summaries
from learnloop.records.summary import Summary, summarise
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import normalise
from learnloop.runner.bulk import BulkPlan, make_bulk, plan_bulk
from learnloop.runner.conduct import is_run
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome
from learnloop.runner.study import Limits, expand, expand_summaries, read_study
from learnloop.runner.sweep import BY_USER, PlannedRun, plan, study_directory, sweep
from learnloop.runner.taking_over import take_over
from learnloop.settings import read_settings

FAILED = 2
INTERRUPTED = 130


def study(  # noqa: PLR0913 - each parameter is an option of the command
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study, a TOML file.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it will take.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Study directory.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Runs at the same time; without a model, one a core."),
    ] = None,
    max_calls: Annotated[int | None, typer.Option(help="Stop after so many model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Stop after so many tokens.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    continue_from: Annotated[
        Path | None,
        typer.Option(metavar="ARCHIVE_DIR", help="Take over the finished runs of an archive."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
) -> None:
    """Make the runs of a study. The same command goes on where it stopped.

    Example: learnloop study studies/house_rules.toml --dry-run
    """
    if jobs is not None and jobs < 1:
        raise ParameterError(f"--jobs must be at least 1, got {jobs}")
    content = read_study(file)
    asked = Limits(max_calls=max_calls, max_tokens=max_tokens, max_seconds=max_seconds)
    budget = _budget(content.limits, asked)
    directory = out or study_directory(content.name)
    specs = [normalise(spec) for spec in expand(content)]
    if continue_from is not None and not dry_run:
        taken = take_over(specs, archive=continue_from, directory=directory)
        typer.echo(f"{taken} finished runs taken over from {continue_from}", err=True)
    if not dry_run:
        make_ready(specs, Console(stderr=True))
    with Console(stderr=True).status("checking the runs"):
        planned = plan(specs, directory, need_data=not dry_run)
        bulk = plan_bulk([normalise(spec) for spec in expand_summaries(content)], directory)
    if dry_run:
        tariff = Tariff(settings=read_settings(), endpoints=Endpoints(content.endpoints))
        show_forecast(planned, bulk, directory=directory, tariff=tariff, as_json=as_json)
        return
    spending = Spending(budget, clock=time.perf_counter)
    slots = jobs or (_cores() if bulk.specs else 1)
    tally = _make_bulk(bulk, directory=directory, spending=spending, jobs=jobs)
    watcher = _sweep(
        planned,
        directory=directory,
        resources=Resources(settings=read_settings(), slots=slots, endpoints=content.endpoints),
        spending=spending,
        jobs=slots,
    )
    reasons = watcher.reasons | tally.reasons(stopped=spending.why_stop())
    _report(planned, bulk, reasons=reasons, directory=directory, as_json=as_json)


class _Watcher:
    """Passes on how the runs go to the display, and keeps why runs stopped."""

    def __init__(self, progress: Progress, planned: Sequence[PlannedRun]) -> None:
        self.reasons: dict[str, str] = {}
        self._progress = progress
        self._tracks = {run.spec.run_id: _track(progress, run) for run in planned}

    def stepped(self, planned: PlannedRun, outcome: StepOutcome) -> None:
        self._progress.add(self._tracks[planned.spec.run_id], outcome)

    def ended(self, planned: PlannedRun, why: str | None) -> None:
        if why is not None:
            self.reasons[planned.spec.run_id] = why
        word = "done" if why is None else why.partition(":")[0]
        self._progress.finish(self._tracks[planned.spec.run_id], word)


def _track(progress: Progress, run: PlannedRun) -> Track:
    spec = run.spec
    name = f"{spec.label or spec.method}, {spec.environment}, {spec.feedback}, seed {spec.seed}"
    track = progress.track(name, length=run.length)
    if run.state == "complete":
        records = read_run(run.directory)
        track.steps.extend(records.steps)
        track.timings.extend(records.timings)
        track.state = "was done"
    return track


def _make_bulk(bulk: BulkPlan, *, directory: Path, spending: Spending, jobs: int | None) -> Tally:
    with Tally(bulk, Console(stderr=True)) as tally:
        make_bulk(
            bulk,
            directory=directory,
            settings=read_settings(),
            spending=spending,
            jobs=jobs or _cores(),
            watcher=tally,
        )
    return tally


def _cores() -> int:
    return os.cpu_count() or 1


def _sweep(
    planned: Sequence[PlannedRun],
    *,
    directory: Path,
    resources: Resources,
    spending: Spending,
    jobs: int,
) -> _Watcher:
    with Progress(Console(stderr=True)) as progress:
        watcher = _Watcher(progress, planned)
        sweep(
            planned,
            directory=directory,
            resources=resources,
            spending=spending,
            jobs=jobs,
            watcher=watcher,
        )
    return watcher


def _budget(limits: Limits, asked: Limits) -> Budget:
    """Let the command line go before the file."""
    given = {name: value for name, value in asked.model_dump().items() if value is not None}
    return Budget(**(limits.model_dump() | given))


def _report(
    planned: Sequence[PlannedRun],
    bulk: BulkPlan,
    *,
    reasons: dict[str, str],
    directory: Path,
    as_json: bool,
) -> None:
    arms = make_arms(read_summaries(directory)) if bulk.specs else []
    summaries = {run.spec.run_id: _summary(run.directory) for run in planned}
    if as_json:
        runs = [
            dataclasses.asdict(summary) | {"run": name, "stopped": reasons.get(name)}
            for name, summary in summaries.items()
        ]
        content = {"dir": str(directory), "runs": runs, "arms": arms_as_json(arms)}
        typer.echo(json.dumps(content))
    else:
        Console().print(arms_table(arms) if arms else _final_table(summaries))
    _explain_ending(reasons)


def _summary(directory: Path) -> Summary:
    if not is_run(directory):
        return summarise([], [])
    records = read_run(directory)
    return summarise(records.steps, records.timings)


def _final_table(summaries: dict[str, Summary]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("run", "steps", "accuracy", "failed", "calls", "seconds"):
        table.add_column(name, justify="left" if name == "run" else "right", overflow="fold")
    for name, summary in summaries.items():
        numbers = [f"{summary.failed}", f"{summary.calls:,}", f"{summary.seconds:,.0f}"]
        table.add_row(name, str(summary.steps), percent(summary.accuracy), *numbers)
    return table


def _explain_ending(reasons: dict[str, str]) -> None:
    if not reasons:
        return
    for name, why in reasons.items():
        typer.echo(f"learnloop: {name}: {why}", err=True)
    typer.echo("learnloop: the same command goes on where it stopped.", err=True)
    if BY_USER in reasons.values():
        raise typer.Exit(INTERRUPTED)
    if any(why.startswith("failed") for why in reasons.values()):
        raise typer.Exit(FAILED)
