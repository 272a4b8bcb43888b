"""How general policies are: the share of bullets that recur across queries, beside the gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

from learnloop.reports.grid import Cell, Grid
from learnloop.reports.load import Run
from learnloop.reports.sameness import Sameness
from learnloop.reports.standings import ConfigurationTest

FEW = 5
"""With fewer rows no correlation is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generality:
    """How general the policies of one cell are.

    Attributes:
        shown: How many bullets were shown, each showing counted.
        distinct: How many different texts, added up over the orders.
        recurring: Share of the showings whose bullet, or one that says the same, was shown with
            another query of the same run.
        reach: Mean share of the other queries with a policy at which it was; unlike `recurring`
            it does not grow with the length of the stream.
        reference: What `gain` is measured against: the last reference that there is, which shows
            examples and no policy where the study has one.
    """

    method: str
    benchmark: str
    model: str
    shown: int
    distinct: int
    recurring: float
    reach: float
    reference: str
    gain: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recurrence:
    shown: int
    distinct: int
    recurring: float
    reach: float


def measure_generality(
    grid: Grid, tests: Sequence[ConfigurationTest], same: Sameness
) -> list[Generality]:
    """Return a row for each cell that showed policies."""
    found = [
        _cell(cell, tests, same)
        for benchmark, model in grid.configurations
        for cell in grid.of(benchmark, model)
    ]
    return [one for one in found if one is not None]


def rank_correlation(rows: Sequence[Generality]) -> float | None:
    """Return Spearman's correlation of reach and gain, `None` where rows are few or all alike."""
    known = [row for row in rows if row.gain is not None]
    reaches, gains = [row.reach for row in known], [row.gain or 0.0 for row in known]
    if len(known) < FEW or len(set(reaches)) == 1 or len(set(gains)) == 1:
        return None
    return float(stats.spearmanr(reaches, gains).statistic)


def _cell(cell: Cell, tests: Sequence[ConfigurationTest], same: Sameness) -> Generality | None:
    runs = [found for run in cell.runs if (found := _recurrence(run, same)) is not None]
    if not runs:
        return None
    shown = sum(one.shown for one in runs)
    against = [
        one
        for one in tests
        if (one.method, one.benchmark, one.model) == (cell.method, cell.benchmark.title, cell.model)
    ]
    return Generality(
        method=cell.method,
        benchmark=cell.benchmark.title,
        model=cell.model,
        shown=shown,
        distinct=sum(one.distinct for one in runs),
        recurring=sum(one.recurring * one.shown for one in runs) / shown,
        reach=sum(one.reach * one.shown for one in runs) / shown,
        reference=against[-1].reference if against else "",
        gain=against[-1].gain if against else None,
    )


def _recurrence(run: Run, same: Sameness) -> _Recurrence | None:
    """Count on how many other steps of a run each bullet comes back."""
    steps = [
        list(dict.fromkeys(bullet.text for bullet in step.policy.bullets))
        for step in run.steps
        if step.policy and step.policy.bullets
    ]
    if not steps:
        return None
    texts = list(dict.fromkeys(text for bullets in steps for text in bullets))
    place = {text: number for number, text in enumerate(texts)}
    rows = [place[text] for bullets in steps for text in bullets]
    columns = [number for number, bullets in enumerate(steps) for _ in bullets]
    ones = np.ones(len(rows), dtype=np.int32)
    there = sparse.csr_array((ones, (rows, columns)), shape=(len(texts), len(steps)))
    alike = sparse.csr_array(same.match(texts).astype(np.int32) @ there)
    others = np.diff(alike.indptr) - 1
    times = np.diff(there.indptr)
    shown = int(times.sum())
    return _Recurrence(
        shown=shown,
        distinct=len(texts),
        recurring=float((times * (others > 0)).sum()) / shown,
        reach=float((times * others).sum()) / shown / max(1, len(steps) - 1),
    )
