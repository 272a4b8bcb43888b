"""The main table of a study: methods by benchmarks by models, mean and spread over orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from learnloop.reports.grid import Benchmark, Cell, Grid
from learnloop.reports.rows_apart import BESIDE, mean_beside
from learnloop.reports.statistics import spread
from learnloop.reports.wording import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one method reached in one configuration.

    Attributes:
        mean: Mean of the orders' accuracies; `None` before the first step.
        sd: Their standard deviation, `None` for a single order.
        orders: How many orders.
        steps: Steps of the shortest and of the longest of them.
        beside: Measures beside the score, by name.
        is_best: Whether no other method that is not given the answers has a higher mean, to the
            decimal that is shown, and some have a lower one.
        notes: What keeps it from being compared as it stands.
    """

    mean: float | None
    sd: float | None
    orders: int
    steps: tuple[int, int]
    beside: tuple[tuple[str, float], ...]
    is_best: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLine:
    """One method with one model; `scores` by the title of the benchmark."""

    method: str
    scores: dict[str, Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBlock:
    """The lines of one model."""

    model: str
    lines: tuple[TableLine, ...]


def make_main_table(grid: Grid) -> list[ModelBlock]:
    """Return a block for each model, its lines in the order of the methods."""
    return [_block(grid, model) for model in grid.models]


def _block(grid: Grid, model: str) -> ModelBlock:
    columns = {one.title: _column(grid, one, model) for one in grid.benchmarks}
    lines = [
        TableLine(
            method=method,
            scores={title: by[method] for title, by in columns.items() if method in by},
        )
        for method in grid.methods
    ]
    return ModelBlock(model=model, lines=tuple(line for line in lines if line.scores))


def _column(grid: Grid, benchmark: Benchmark, model: str) -> dict[str, Score]:
    cells = grid.of(benchmark, model)
    longest = max((len(run.steps) for cell in cells for run in cell.runs), default=0)
    seeds = max((len(cell.runs) for cell in cells), default=0)
    scores = {cell.method: _score(cell, longest=longest, seeds=seeds) for cell in cells}
    rivals = [method for method in scores if method in grid.compared]
    reached = {_shown(scores[method]) for method in rivals}
    if len(reached) < 2:
        return scores
    best = max(reached)
    return {
        method: replace(one, is_best=method in rivals and _shown(one) == best)
        for method, one in scores.items()
    }


def _shown(score: Score) -> float:
    return -1.0 if score.mean is None else round(score.mean, 3)


def _score(cell: Cell, *, longest: int, seeds: int) -> Score:
    means = [fmean(run.scores) for run in cell.runs if run.steps]
    found = spread(means) if means else None
    lengths = [len(run.steps) for run in cell.runs]
    steps = [step for run in cell.runs for step in run.steps]
    measured = [(name, mean_beside(steps, name)) for name in BESIDE]
    return Score(
        mean=found.mean if found else None,
        sd=found.sd if found else None,
        orders=len(cell.runs),
        steps=(min(lengths), max(lengths)),
        beside=tuple((name, value) for name, value in measured if value is not None),
        is_best=False,
        notes=tuple(_notes(cell, longest=longest, seeds=seeds)),
    )


def _notes(cell: Cell, *, longest: int, seeds: int) -> Iterable[str]:
    for run in cell.runs:
        if not run.info.complete:
            yield f"seed {run.seed} incomplete: {plural(len(run.steps), 'step')} so far"
        elif len(run.steps) < longest:
            yield f"seed {run.seed}: {len(run.steps)} steps, others have {longest}"
    if len(cell.runs) < seeds:
        yield f"{plural(len(cell.runs), 'order')}, others have {seeds}"
    failed = sum(step.failed is not None for run in cell.runs for step in run.steps)
    if failed:
        yield f"{plural(failed, 'failed step')}, counted as wrong"
