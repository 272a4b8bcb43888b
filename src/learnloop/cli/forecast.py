"""What `learnloop study --dry-run` prints: runs, calls, tokens and money, before any is spent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from learnloop.llm.tariff import Tariff
from learnloop.methods.calls import Span, exactly
from learnloop.runner.bulk import BulkPlan
from learnloop.runner.forecast import Share
from learnloop.runner.spec import RunSpec
from learnloop.runner.sweep import PlannedRun

MOST_LINES = 40
"""Runs that are shown one by one; of more, what they come to by method, benchmark and model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What some shares read, write and cost; `unpriced` are the models without a known price."""

    tokens_in: int
    tokens_out: int
    known: float
    unpriced: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    @property
    def usd(self) -> float | None:
        """The cost in US dollars; `None` where a price is not known."""
        return None if self.unpriced else self.known


def add_up(shares: Iterable[Share], tariff: Tariff) -> Cost:
    """Return what all shares come to."""
    given = list(shares)
    known, unpriced = 0.0, {}
    for share in given:
        cost = tariff.cost(share.model, tokens_in=share.tokens_in, tokens_out=share.tokens_out)
        if cost is None:
            unpriced[share.model] = True
        else:
            known += cost
    return Cost(
        tokens_in=sum(share.tokens_in for share in given),
        tokens_out=sum(share.tokens_out for share in given),
        known=known,
        unpriced=tuple(unpriced),
    )


def show_forecast(
    planned: Sequence[PlannedRun],
    bulk: BulkPlan,
    *,
    directory: Path,
    tariff: Tariff,
    as_json: bool,
) -> None:
    """Print the runs of a study and what they will take."""
    if as_json:
        typer.echo(json.dumps(_as_json(planned, bulk, directory=directory, tariff=tariff)))
        return
    few = len(planned) <= MOST_LINES
    lines = [_line(run) for run in planned] if few else _tables(planned, tariff)
    if bulk.specs:
        lines.append(f"{len(bulk.specs):,} runs that leave a summary each, {bulk.done:,} are made")
    cost = add_up(_shares(planned), tariff)
    lines += _remarks(planned, tariff)
    lines.append(f"{len(planned)} runs in {directory}, {_words(_calls(planned))} left")
    lines.append(f"about {cost.tokens_in:,} tokens in and {cost.tokens_out:,} out, {_money(cost)}")
    typer.echo("\n".join(lines))


def _as_json(
    planned: Sequence[PlannedRun], bulk: BulkPlan, *, directory: Path, tariff: Tariff
) -> dict[str, object]:
    calls, cost = _calls(planned), add_up(_shares(planned), tariff)
    return {
        "dir": str(directory),
        "runs": len(planned),
        "calls": calls.expected,
        "calls_min": calls.at_least,
        "calls_max": calls.at_most,
        "tokens": cost.tokens,
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
        "usd": cost.usd,
        "usd_known": cost.known,
        "unpriced": list(cost.unpriced),
        "keys_missing": _missing_keys(planned, tariff),
        "notes": _notes(planned),
        "plan": [_row(run, tariff) for run in planned],
        "summaries": {"runs": len(bulk.specs), "done": bulk.done},
    }


def _row(run: PlannedRun, tariff: Tariff) -> dict[str, object]:
    calls, cost = run.calls_to_come, add_up(run.shares_to_come, tariff)
    return {
        "run": run.spec.run_id,
        "model": run.spec.model,
        "state": run.state,
        "steps_left": run.steps_left,
        "calls": calls.expected,
        "calls_min": calls.at_least,
        "calls_max": calls.at_most,
        "measured": run.calls_a_step is not None,
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
        "usd": cost.usd,
    }


def _line(run: PlannedRun) -> str:
    return (
        f"{run.spec.run_id}: {run.state}, {run.steps_left} steps left, {_words(run.calls_to_come)}"
    )


def _tables(planned: Sequence[PlannedRun], tariff: Tariff) -> list[str]:
    """Return the lines of three tables: what methods, environments and models come to."""
    rows = [
        row
        for title, name_of in _AXES
        for row in _rows_of(title, _grouped(planned, name_of), tariff)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in rows
    ]


def _grouped(
    planned: Sequence[PlannedRun], name_of: Callable[[RunSpec], str]
) -> dict[str, list[PlannedRun]]:
    groups: dict[str, list[PlannedRun]] = {}
    for run in planned:
        groups.setdefault(name_of(run.spec), []).append(run)
    return groups


def _rows_of(title: str, groups: Mapping[str, list[PlannedRun]], tariff: Tariff) -> list[list[str]]:
    head = [title, "runs", "steps", "calls", "tokens in", "out", "US$"]
    cells = [_cells(name, runs, tariff) for name, runs in groups.items()]
    return [head, *cells, [""] * len(head)]


def _cells(name: str, runs: Sequence[PlannedRun], tariff: Tariff) -> list[str]:
    calls, cost = _calls(runs), add_up(_shares(runs), tariff)
    return [
        name,
        f"{len(runs)}",
        f"{sum(run.steps_left for run in runs):,}",
        f"{calls.expected:,}" if calls.exact else f"~{calls.expected:,}",
        f"{cost.tokens_in:,}",
        f"{cost.tokens_out:,}",
        f"{cost.known:,.2f}" + ("+?" if cost.unpriced else ""),
    ]


def _remarks(planned: Sequence[PlannedRun], tariff: Tariff) -> list[str]:
    notes = [f"{environment}: {note}" for environment, note in _notes(planned).items()]
    return notes + [f"not set: {name}" for name in _missing_keys(planned, tariff)]


def _notes(planned: Sequence[PlannedRun]) -> dict[str, str]:
    return {run.spec.environment: run.note for run in planned if run.note}


def _missing_keys(planned: Sequence[PlannedRun], tariff: Tariff) -> list[str]:
    models = {
        name: True
        for run in planned
        for name in (run.spec.model, run.spec.policy_model, *run.spec.agents)
        if name is not None
    }
    missing = {tariff.missing_key(name): True for name in models}
    return [variable for variable in missing if variable is not None]


def _calls(planned: Sequence[PlannedRun]) -> Span:
    return sum((run.calls_to_come for run in planned), exactly(0))


def _shares(planned: Sequence[PlannedRun]) -> list[Share]:
    return [share for run in planned for share in run.shares_to_come]


def _words(calls: Span) -> str:
    if calls.exact:
        return f"{calls.expected:,} calls"
    most = "unknown" if calls.at_most is None else f"{calls.at_most:,}"
    return f"about {calls.expected:,} calls ({calls.at_least:,} to {most})"


def _money(cost: Cost) -> str:
    known = f"US$ {cost.known:,.2f}"
    if not cost.unpriced:
        return known
    count = len(cost.unpriced)
    return f"{known} and the unknown price of {count} model{'s' if count > 1 else ''}"


_AXES: Sequence[tuple[str, Callable[[RunSpec], str]]] = (
    ("method", lambda spec: spec.label or spec.method),
    ("environment", lambda spec: spec.environment),
    ("model", lambda spec: spec.model),
)
