"""`learnloop run`: one method on one environment, with live progress and records."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.cli.assignments import read_assignments
from learnloop.cli.preparing import make_ready
from learnloop.cli.progress import Progress, percent
from learnloop.environments import PUBLISHED_SEED, default_seed
from learnloop.records.reader import read_run
from learnloop.records.summary import Summary, summarise
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import normalise, prepare
from learnloop.runner.conduct import check_directory, conduct
from learnloop.runner.resources import Resources
from learnloop.runner.spec import RunSpec, make_spec
from learnloop.settings import read_settings

RUNS = Path("runs")
INTERRUPTED = 130
SEEDS = f"Default: {PUBLISHED_SEED}, as published, for the six benchmarks; 0 for the others."


def run(  # noqa: PLR0913 - each parameter is an option of the command
    environment: Annotated[
        str, typer.Argument(metavar="ENV", help="See `learnloop list environments`.")
    ],
    method: Annotated[str, typer.Option("--method", "-m", help="See `learnloop list methods`.")],
    model: Annotated[str, typer.Option("--model", help="Name of the answering model.")] = "local",
    policy_model: Annotated[
        str | None, typer.Option("--policy-model", help="Model that writes policies.")
    ] = None,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Another answering model, for a method of several agents."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", "-n", help="Number of queries; default: all.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", help="Decides the order of queries. " + SEEDS)
    ] = None,
    feedback: Annotated[
        str,
        typer.Option("--feedback", help="What arrives: binary, comment, correction=0.5, noise=0.1"),
    ] = "binary",
    embedder: Annotated[
        str, typer.Option("--embedder", help="What turns texts into vectors.")
    ] = "wordllama",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE for the environment, such as order=by_db."),
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option("--param", help="NAME=VALUE for the method, such as k=8.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Run directory.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run there.")] = False,
    max_calls: Annotated[int | None, typer.Option(help="Stop after so many model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Stop after so many tokens.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
) -> None:
    """Run a method on an environment.

    Example: learnloop run house_rules --method drpg --set database=shop --feedback comment

    Example: learnloop run spider --method drpg --param writer=contrastive --model openai/NAME
    """
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_seconds=max_seconds)
    spec = normalise(
        make_spec(
            environment=environment,
            environment_params=read_assignments("--set", settings or ()),
            method=method,
            method_params=read_assignments("--param", params or ()),
            model=model,
            policy_model=policy_model,
            agents=list(agents or ()),
            steps=steps,
            seed=default_seed(environment) if seed is None else seed,
            feedback=feedback,
            embedder=embedder,
        )
    )
    directory = out or RUNS / spec.run_id
    length = _run(spec, directory=directory, budget=budget, resume=resume)
    _report(directory, length=length, as_json=as_json)


def _run(spec: RunSpec, *, directory: Path, budget: Budget, resume: bool) -> int:
    """Run, show how it goes, and return how many steps there are to make."""
    check_directory(directory, spec, resume=resume)
    make_ready([spec], Console(stderr=True))
    prepared = prepare(spec, Resources(settings=read_settings()))
    spending = Spending(budget, clock=time.perf_counter)
    with Progress(Console(stderr=True)) as progress:
        track = progress.track(spec.label or spec.method, length=prepared.length)
        outcomes = conduct(prepared, directory=directory, spending=spending, resume=resume)
        try:
            for outcome in outcomes:
                progress.add(track, outcome)
        except KeyboardInterrupt as error:
            _say_how_to_go_on(f"stopped after {len(track.steps)} steps")
            raise typer.Exit(INTERRUPTED) from error
        progress.finish(track, "done")
    return prepared.length


def _report(directory: Path, *, length: int, as_json: bool) -> None:
    records = read_run(directory)
    summary = summarise(records.steps, records.timings)
    if records.info.stopped is not None:
        _say_how_to_go_on(f"stopped after {summary.steps} steps: {records.info.stopped}")
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(summary) | {"dir": str(directory)}))
        return
    table = _final_table(summary, length=length, directory=directory)
    if records.info.note:
        table.add_row("note", records.info.note)
    Console().print(table)


def _final_table(summary: Summary, *, length: int, directory: Path) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("steps", f"{summary.steps} of {length}, {summary.failed} failed")
    table.add_row("accuracy", percent(summary.accuracy))
    table.add_row("model calls", f"{summary.calls:,}")
    table.add_row("tokens read", f"{summary.tokens_in:,} ({summary.tokens_cached:,} from cache)")
    table.add_row("tokens written", f"{summary.tokens_out:,}")
    table.add_row("seconds", f"{summary.seconds:,.1f}")
    table.add_row("records", str(directory))
    return table


def _say_how_to_go_on(what: str) -> None:
    typer.echo(f"learnloop: {what}; the same command with --resume goes on.", err=True)
