"""`learnloop quickstart`: methods learn, or do not, on the same stream, before your eyes."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console, ConsoleRenderable
from rich.live import Live

from learnloop.cli.curves import curves
from learnloop.cli.models import fetch_where_absent
from learnloop.cli.progress import WAITING, Track, percent
from learnloop.cli.strips import count_changes, strips
from learnloop.errors import ParameterError
from learnloop.records.reader import read_run
from learnloop.records.summary import summarise
from learnloop.reports.load import load_runs
from learnloop.reports.page import write_report
from learnloop.reports.wording import plural
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import prepare
from learnloop.runner.conduct import is_run
from learnloop.runner.resources import Resources
from learnloop.runner.run import StepOutcome
from learnloop.runner.spec import Params, make_spec
from learnloop.runner.sweep import BY_USER, PlannedRun, plan, sweep
from learnloop.settings import read_settings

METHODS = ("zero_shot", "self_stream_icl", "drpg")
CONTROL = "control"
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
    """Watch gates decide when to edit a prompt, and methods learn the rules of a shop.

    First, a rule reverses three times while a tenth of the feedback is wrong, and a gate says
    when the model is to rewrite the prompt. Then three methods answer questions about a shop with
    conventions that no schema shows; a simulated user complains about wrong answers and corrects
    half of them. With OPENAI_API_KEY a hosted model answers, else the local one. The same command
    goes on where it stopped.

    Example: learnloop quickstart --steps 20
    """
    if steps < 1:
        raise ParameterError(f"--steps must be at least 1, got {steps}")
    settings = read_settings()
    name = model or (HOSTED_MODEL if settings.openai_api_key else "local")
    folder = out / f"{_slug(name)}-{steps}-seed{seed}"
    acts = (
        _control_act(name, seed=seed, folder=folder / CONTROL),
        _shop_act(name, steps=steps, seed=seed, folder=folder),
    )
    fetch_where_absent(name)
    resources = Resources(settings=settings, slots=len(METHODS))
    reasons: dict[str, str] = {}
    for act in acts:
        reasons = _conduct(act, resources)
        if reasons:
            break
    if any(is_run(run.directory) for act in acts for run in act.planned):
        _show_end(acts, folder=folder, as_json=as_json, open_page=open_page)
    _explain_stop(reasons)


class View(Protocol):
    """Draws runs under way."""

    def __call__(self, tracks: Sequence[Track], *, width: int) -> ConsoleRenderable:
        """Return how the runs stand."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Some runs side by side: what is said before, and how they are drawn."""

    name: str
    greeting: str
    planned: Sequence[PlannedRun]
    folder: Path
    view: View


class _Watcher:
    """Keeps what is drawn of the runs, and why runs stopped."""

    def __init__(self, planned: Sequence[PlannedRun], *, console: Console, view: View) -> None:
        self.console = console
        self.view = view
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
            return self.view(list(self.tracks.values()), width=self.console.width)


def _control_act(model: str, *, seed: int, folder: Path) -> Act:
    """No edit, an edit on every error, and our default gate on a rule that reverses."""
    arms: dict[str, Params] = {
        "No Edit": {"gate": "never"},
        "P": {"gate": "proportional", "evidence": "recent", "budget": 16, "pause": 2},
        "Bayes": {"gate": "bayes", "recall": "best"},
    }
    specs = [
        make_spec(
            environment="parity",
            method="gated_prompt",
            method_params=params,
            model=model,
            seed=seed,
            feedback="binary,noise=0.1",
            label=label,
        )
        for label, params in arms.items()
    ]
    greeting = (
        f"1. A rule reverses three times, a tenth of the feedback is wrong. When is {model} to "
        "rewrite the prompt? Never, on every error (P), or when a change is probable (Bayes)."
    )
    return Act(
        name=CONTROL, greeting=greeting, planned=plan(specs, folder), folder=folder, view=strips
    )


def _shop_act(model: str, *, steps: int, seed: int, folder: Path) -> Act:
    """Three methods on the questions about a shop."""
    specs = [
        make_spec(
            environment="house_rules",
            environment_params={"database": "shop"},
            method=method,
            model=model,
            steps=steps,
            seed=seed,
            feedback=FEEDBACK,
        )
        for method in METHODS
    ]
    greeting = (
        f"2. {', '.join(METHODS)}: the same {steps} questions about a shop, answered by {model}. "
        "Ctrl-C stops; the same command goes on."
    )
    return Act(
        name="methods", greeting=greeting, planned=plan(specs, folder), folder=folder, view=curves
    )


def _conduct(act: Act, resources: Resources) -> dict[str, str]:
    """Make the runs of an act and return why any of them stopped."""
    console = Console(stderr=True)
    watcher = _Watcher(act.planned, console=console, view=act.view)
    typer.echo(act.greeting, err=True)
    _open_model(act.planned, resources)
    live = Live(watcher, console=console, refresh_per_second=4)
    if console.is_terminal:
        live.start()
    try:
        sweep(
            act.planned,
            directory=act.folder,
            resources=resources,
            spending=Spending(Budget(), clock=time.perf_counter),
            jobs=len(act.planned),
            watcher=watcher,
        )
    finally:
        if console.is_terminal:
            live.stop()
    return watcher.reasons


def _open_model(planned: Sequence[PlannedRun], resources: Resources) -> None:
    """Let a model that cannot be opened end the command, rather than each run."""
    waiting = [run.spec for run in planned if run.state != "complete"]
    if waiting:
        prepare(waiting[0], resources)


def _track(run: PlannedRun) -> Track:
    track = Track(name=run.spec.label or run.spec.method, length=run.length, state=WAITING)
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


def _show_end(acts: Sequence[Act], *, folder: Path, as_json: bool, open_page: bool) -> None:
    page = write_report(load_runs([folder]), out=folder / "report", command="learnloop quickstart")
    if open_page:
        typer.launch(str(page))
    found = {act.name: _summaries(act) for act in acts}
    if as_json:
        typer.echo(json.dumps({"report": str(page)} | found))
        return
    for label, summary in found[CONTROL].items():
        right = percent(summary["accuracy"])
        changes = plural(summary["changes"], "change")
        typer.echo(f"{label}: {right} right, {changes} of the prompt, {summary['calls']} calls")
    for label, summary in found["methods"].items():
        half = percent(summary["accuracy_second_half"])
        calls = summary["calls"] / max(1, summary["steps"])
        typer.echo(f"{label}: {half} right in the second half, {calls:.2f} calls a query")
    typer.echo(f"report: {page}")


def _summaries(act: Act) -> dict[str, dict[str, Any]]:
    """Return what each run of an act came to, by its label."""
    found = {}
    for run in filter(lambda one: is_run(one.directory), act.planned):
        records = read_run(run.directory)
        second = [step.score for step in records.steps[len(records.steps) // 2 :]]
        found[run.spec.label or run.spec.method] = dataclasses.asdict(
            summarise(records.steps, records.timings)
        ) | {
            "accuracy_second_half": sum(second) / len(second) if second else None,
            "changes": count_changes(records.steps),
        }
    return found


def _explain_stop(reasons: dict[str, str]) -> None:
    for why in dict.fromkeys(reasons.values()):
        typer.echo(f"learnloop: {why}", err=True)
    if BY_USER in reasons.values():
        raise typer.Exit(INTERRUPTED)
    if reasons:
        raise typer.Exit(FAILED)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in name)
