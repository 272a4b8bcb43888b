"""`learnloop quickstart`: three methods learn, or do not, on the same stream, before your eyes."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated

import typer
from rich.console import Console, ConsoleRenderable
from rich.live import Live

from learnloop.cli.curves import curves
from learnloop.cli.models import fetch_where_absent
from learnloop.cli.progress import WAITING, Track, percent
from learnloop.errors import ParameterError
from learnloop.records.reader import read_run
from learnloop.records.summary import summarise
from learnloop.reports.load import load_runs
from learnloop.reports.page import write_report
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import normalise, prepare
from learnloop.runner.conduct import is_run
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome
from learnloop.runner.spec import RunSpec, make_spec
from learnloop.runner.sweep import BY_USER, PlannedRun, plan, sweep
from learnloop.settings import Settings, read_settings

METHODS = ("zero_shot", "self_stream_icl", "drpg")
HOSTED_MODEL = "openai/gpt-4.1-mini"
FEEDBACK = "comment,correction=0.5"
STEPS = 40
FAILED = 2
INTERRUPTED = 130


def quickstart(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model; default: hosted if a key, else local."),
    ] = None,
    steps: Annotated[int, typer.Option("--steps", "-n", help="Number of questions.")] = STEPS,
    seed: Annotated[int, typer.Option("--seed", "-s", help="Order of the questions.")] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for records and report.")] = Path(
        "runs/quickstart"
    ),
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Show the report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
) -> None:
    """Watch three methods answer the same questions about a shop, and one of them learn its rules.

    The shop has conventions that no schema shows; a simulated user complains about wrong answers
    and corrects half of them. With OPENAI_API_KEY a hosted model answers, else the local one. The
    same command goes on where it stopped.

    Example: learnloop quickstart --steps 20
    """
    if steps < 1:
        raise ParameterError(f"--steps must be at least 1, got {steps}")
    settings = read_settings()
    name = model or (HOSTED_MODEL if settings.openai_api_key else "local")
    specs = [normalise(_spec(method, model=name, steps=steps, seed=seed)) for method in METHODS]
    folder = out / f"{_slug(name)}-{steps}-seed{seed}"
    planned = plan(specs, folder)
    fetch_where_absent(name)
    typer.echo(_greeting(name, steps), err=True)
    watcher = _conduct(planned, folder=folder, settings=settings)
    made = [run for run in planned if is_run(run.directory)]
    if made:
        _show_end(made, folder=folder, as_json=as_json, open_page=open_page)
    _explain_stop(watcher.reasons)


class _Watcher:
    """Keeps the curves of the runs, and why runs stopped."""

    def __init__(self, planned: Sequence[PlannedRun], *, console: Console) -> None:
        self.console = console
        self.tracks = {run.spec.run_id: _track(run) for run in planned}
        self.reasons: dict[str, str] = {}
        self._lock = Lock()

    def stepped(self, planned: PlannedRun, outcome: StepOutcome) -> None:
        track = self.tracks[planned.spec.run_id]
        with self._lock:
            track.add(outcome)
        if not self.console.is_terminal:
            self.console.print(_line(track), soft_wrap=True, highlight=False, markup=False)

    def ended(self, planned: PlannedRun, why: str | None) -> None:
        if why is not None:
            self.reasons[planned.spec.run_id] = why

    def __rich__(self) -> ConsoleRenderable:
        with self._lock:
            return curves(list(self.tracks.values()), width=self.console.width)


def _spec(method: str, *, model: str, steps: int, seed: int) -> RunSpec:
    return make_spec(
        environment="house_rules",
        environment_params={"database": "shop"},
        method=method,
        model=model,
        steps=steps,
        seed=seed,
        feedback=FEEDBACK,
    )


def _conduct(planned: Sequence[PlannedRun], *, folder: Path, settings: Settings) -> _Watcher:
    console = Console(stderr=True)
    watcher = _Watcher(planned, console=console)
    jobs = len(planned)
    resources = Resources(settings=settings, slots=jobs)
    _open_model(planned, resources)
    spending = Spending(Budget(), clock=time.perf_counter)
    live = Live(watcher, console=console, refresh_per_second=4)
    if console.is_terminal:
        live.start()
    try:
        sweep(
            planned,
            directory=folder,
            resources=resources,
            spending=spending,
            jobs=jobs,
            watcher=watcher,
        )
    finally:
        if console.is_terminal:
            live.stop()
    return watcher


def _open_model(planned: Sequence[PlannedRun], resources: Resources) -> None:
    """Let a model that cannot be opened end the command, rather than each run."""
    waiting = [run.spec for run in planned if run.state != "complete"]
    if waiting:
        prepare(waiting[0], resources)


def _track(run: PlannedRun) -> Track:
    track = Track(name=run.spec.method, length=run.length, state=WAITING)
    if run.state == "complete":
        records = read_run(run.directory)
        track.steps.extend(records.steps)
        track.timings.extend(records.timings)
    return track


def _line(track: Track) -> str:
    record = track.steps[-1]
    verdict = "right" if record.score >= 1 else "wrong"
    return (
        f"{track.name} step {len(track.steps)}/{track.length}: {verdict}, "
        f"so far {percent(track.summary.accuracy)}"
    )


def _greeting(model: str, steps: int) -> str:
    return (
        f"{', '.join(METHODS)}: the same {steps} questions about a shop, answered by {model}. "
        "Ctrl-C stops; the same command goes on."
    )


def _show_end(
    planned: Sequence[PlannedRun], *, folder: Path, as_json: bool, open_page: bool
) -> None:
    page = write_report(load_runs([folder]), out=folder / "report", command="learnloop quickstart")
    if open_page:
        typer.launch(str(page))
    summaries = {}
    for run in planned:
        records = read_run(run.directory)
        second = [step.score for step in records.steps[len(records.steps) // 2 :]]
        summary = dataclasses.asdict(summarise(records.steps, records.timings))
        late = sum(second) / len(second) if second else None
        summaries[run.spec.method] = summary | {"accuracy_second_half": late}
    if as_json:
        typer.echo(json.dumps({"report": str(page), "methods": summaries}))
        return
    for method, summary in summaries.items():
        half = percent(summary["accuracy_second_half"])
        calls = summary["calls"] / max(1, summary["steps"])
        typer.echo(f"{method}: {half} right in the second half, {calls:.2f} calls a query")
    typer.echo(f"report: {page}")


def _explain_stop(reasons: dict[str, str]) -> None:
    for why in dict.fromkeys(reasons.values()):
        typer.echo(f"learnloop: {why}", err=True)
    if BY_USER in reasons.values():
        raise typer.Exit(INTERRUPTED)
    if reasons:
        raise typer.Exit(FAILED)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in name)
