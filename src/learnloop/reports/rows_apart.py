"""What tags of steps add to a score: accuracy without the rows set apart, and F1 beside EM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from learnloop.records.schema import StepRecord
from learnloop.reports.grid import Cell, Grid

SET_APART: Mapping[str, str] = {
    "empty gold": "the reference query returns no rows, so any query that returns none is right"
}
"""Tags of rows that are also left out, and why."""
BESIDE = ("f1",)
"""Measures that a tag `name=value` gives beside the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsApart:
    """Accuracy of one method in one configuration, with and without the rows of one tag.

    `without` is `None` where every row has the tag. Accuracies are over the steps of all orders.
    """

    tag: str
    why: str
    benchmark: str
    model: str
    method: str
    steps: int
    tagged: int
    accuracy: float
    on_tagged: float
    without: float | None


def find_rows_apart(grid: Grid) -> list[RowsApart]:
    """Return a row for each cell that has steps with a tag that is set apart."""
    found = [
        _apart(cell, tag)
        for tag in SET_APART
        for benchmark, model in grid.configurations
        for cell in grid.of(benchmark, model)
    ]
    return [one for one in found if one is not None]


def mean_beside(steps: Sequence[StepRecord], name: str) -> float | None:
    """Return the mean of a measure that tags give, failed steps counting 0; `None`: no tag has it.

    Examples:
        >>> mean_beside([], "f1") is None
        True
    """
    values = [_value(step, name) for step in steps]
    if all(value is None for value in values):
        return None
    return fmean(value or 0.0 for value in values)


def _value(step: StepRecord, name: str) -> float | None:
    for tag in step.tags:
        key, _, value = tag.partition("=")
        if key == name and value:
            return float(value)
    return None


def _apart(cell: Cell, tag: str) -> RowsApart | None:
    steps = [step for run in cell.runs for step in run.steps]
    tagged = [step.score for step in steps if tag in step.tags]
    others = [step.score for step in steps if tag not in step.tags]
    if not tagged:
        return None
    return RowsApart(
        tag=tag,
        why=SET_APART[tag],
        benchmark=cell.benchmark.title,
        model=cell.model,
        method=cell.method,
        steps=len(steps),
        tagged=len(tagged),
        accuracy=fmean(tagged + others),
        on_tagged=fmean(tagged),
        without=fmean(others) if others else None,
    )
