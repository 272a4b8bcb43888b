"""What answers cost in tokens, over the calls of all roles, and what an extra right one costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from learnloop.records.schema import StepRecord
from learnloop.records.summary import summarise
from learnloop.reports.grid import Cell, Grid
from learnloop.reports.paired_runs import PairedRuns
from learnloop.reports.standings import pair_in


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleTokens:
    """Tokens a query of the calls of one role."""

    calls: float
    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraCost:
    """What a method spends over a reference for each answer that it gets right beyond it.

    Over the queries that both answered. `tokens` counts read and written ones, `written` the
    written alone; both are `None` where there is no gain, for which no price can be given. Below
    zero the method is right more often for fewer tokens.
    """

    reference: str
    gain: float
    tokens: float | None
    written: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCost:
    """What one method took in one configuration, a query. `tokens_in` includes cached ones."""

    method: str
    benchmark: str
    model: str
    accuracy: float
    orders: int
    queries: int
    calls: float
    tokens_in: float
    tokens_cached: float
    tokens_out: float
    seconds: float
    roles: Mapping[str, RoleTokens]
    extras: tuple[ExtraCost, ...]

    def over(self, reference: str) -> ExtraCost | None:
        """Return the price of an extra right answer over a reference, where it is compared."""
        return next((one for one in self.extras if one.reference == reference), None)


def count_tokens(grid: Grid) -> list[TokenCost]:
    """Return what each cell that has steps took."""
    return [
        _cost(grid, cell)
        for benchmark, model in grid.configurations
        for cell in grid.of(benchmark, model)
        if any(run.steps for run in cell.runs)
    ]


def _cost(grid: Grid, cell: Cell) -> TokenCost:
    sums = [summarise(run.steps, run.timings) for run in cell.runs]
    queries = sum(one.steps for one in sums)
    means = [one.accuracy for one in sums if one.accuracy is not None]
    return TokenCost(
        method=cell.method,
        benchmark=cell.benchmark.title,
        model=cell.model,
        accuracy=fmean(means),
        orders=len(cell.runs),
        queries=queries,
        calls=sum(one.calls for one in sums) / queries,
        tokens_in=sum(one.tokens_in for one in sums) / queries,
        tokens_cached=sum(one.tokens_cached for one in sums) / queries,
        tokens_out=sum(one.tokens_out for one in sums) / queries,
        seconds=sum(one.seconds for one in sums) / queries,
        roles=_roles([step for run in cell.runs for step in run.steps]),
        extras=_extras(grid, cell),
    )


def _roles(steps: Sequence[StepRecord]) -> dict[str, RoleTokens]:
    calls = [call for step in steps for call in step.calls]
    found = {}
    for role in dict.fromkeys(call.role for call in calls):
        there = [call for call in calls if call.role == role]
        found[str(role)] = RoleTokens(
            calls=len(there) / len(steps),
            tokens_in=sum(call.tokens_in for call in there) / len(steps),
            tokens_out=sum(call.tokens_out for call in there) / len(steps),
        )
    return found


def _extras(grid: Grid, cell: Cell) -> tuple[ExtraCost, ...]:
    if cell.method not in grid.compared:
        return ()
    where = (cell.benchmark, cell.model)
    found = [
        pair_in(grid, cell.method, reference, where=where)
        for reference in grid.references
        if grid.methods.index(reference) < grid.methods.index(cell.method)
    ]
    return tuple(extra_cost(paired) for paired in found if paired is not None)


def extra_cost(paired: PairedRuns) -> ExtraCost:
    """Return the price of an extra right answer over the queries that both answered."""
    more_right = sum(pair.difference for pair in paired.pairs)
    ours = [pair.ours for pair in paired.pairs]
    theirs = [pair.theirs for pair in paired.pairs]
    written = _written(ours) - _written(theirs)
    tokens = written + _read(ours) - _read(theirs)
    gained = paired.gain > 0
    return ExtraCost(
        reference=paired.other,
        gain=paired.gain,
        tokens=tokens / more_right if gained else None,
        written=written / more_right if gained else None,
    )


def _written(steps: Sequence[StepRecord]) -> int:
    return sum(call.tokens_out for step in steps for call in step.calls)


def _read(steps: Sequence[StepRecord]) -> int:
    return sum(call.tokens_in for step in steps for call in step.calls)
