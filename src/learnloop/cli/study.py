"""`learnloop study`: a grid of runs from a file, with live progress, budgets and resume."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.cli.progress import Progress, Track, percent
from learnloop.errors import ParameterError
from learnloop.records.reader import read_run
from learnloop.records.summary import Summary, summarise
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import normalise
from learnloop.runner.conduct import is_run
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome
from learnloop.runner.study import Limits, expand, read_study
from learnloop.runner.sweep import BY_USER, PlannedRun, plan, study_directory, sweep
from learnloop.settings import read_settings

FAILED = 2
INTERRUPTED = 130


def study(  # noqa: PLR0913 - each parameter is an option of the command
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study, a TOML file.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the runs.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Study directory.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Runs at the same time.")] = 1,
    max_calls: Annotated[int | None, typer.Option(help="Stop after so many model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Stop after so many tokens.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
) -> None:
    """Make the runs of a study. The same command goes on where it stopped.

    Example: learnloop study studies/house_rules.toml --dry-run
    """
    if jobs < 1:
        raise ParameterError(f"--jobs must be at least 1, got {jobs}")
    content = read_study(file)
    asked = Limits(max_calls=max_calls, max_tokens=max_tokens, max_seconds=max_seconds)
    budget = _budget(content.limits, asked)
    directory = out or study_directory(content.name)
    planned = plan([normalise(spec) for spec in expand(content)], directory)
    if dry_run:
        _show_plan(planned, directory=directory, as_json=as_json)
        return
    watcher = _sweep(planned, directory=directory, budget=budget, jobs=jobs)
    _report(planned, reasons=watcher.reasons, directory=directory, as_json=as_json)


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


def _sweep(
    planned: Sequence[PlannedRun], *, directory: Path, budget: Budget, jobs: int
) -> _Watcher:
    resources = Resources(settings=read_settings(), slots=jobs)
    spending = Spending(budget, clock=time.perf_counter)
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


def _show_plan(planned: Sequence[PlannedRun], *, directory: Path, as_json: bool) -> None:
    rows = [
        {
            "run": run.spec.run_id,
            "state": run.state,
            "steps_left": run.steps_left,
            "calls_left": run.calls_left,
            "measured": run.calls_a_step is not None,
        }
        for run in planned
    ]
    total = sum(run.calls_left for run in planned)
    if as_json:
        typer.echo(json.dumps({"dir": str(directory), "calls_left": total, "runs": rows}))
        return
    for row in rows:
        least = "about" if row["measured"] else "at least"
        typer.echo(
            f"{row['run']}: {row['state']}, {row['steps_left']} steps left, "
            f"{least} {row['calls_left']} calls"
        )
    typer.echo(f"{len(planned)} runs in {directory}, at least {total:,} calls left")


def _report(
    planned: Sequence[PlannedRun], *, reasons: dict[str, str], directory: Path, as_json: bool
) -> None:
    summaries = {run.spec.run_id: _summary(run.directory) for run in planned}
    if as_json:
        runs = [
            dataclasses.asdict(summary) | {"run": name, "stopped": reasons.get(name)}
            for name, summary in summaries.items()
        ]
        typer.echo(json.dumps({"dir": str(directory), "runs": runs}))
    else:
        Console().print(_final_table(summaries))
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
