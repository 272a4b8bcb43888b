"""Pairs the answers of two methods in one configuration: same order, same step, same query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from learnloop.records.schema import StepRecord
from learnloop.reports.grid import Cell
from learnloop.reports.statistics import RESAMPLES, Discordance, Interval, mcnemar
from learnloop.seeding import stream

DECIMALS = 12
"""Differences are rounded so far, so that equal ones are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPair:
    """One query that both methods answered, in one order."""

    seed: int
    ours: StepRecord
    theirs: StepRecord

    @property
    def difference(self) -> float:
        """Score of ours over theirs."""
        return self.ours.score - self.theirs.score


@dataclass(frozen=True, kw_only=True)
class PairedRuns:
    """Two methods in one configuration; `pairs` is never empty."""

    method: str
    other: str
    cell: Cell
    pairs: tuple[StepPair, ...]

    @cached_property
    def gain(self) -> float:
        """Mean difference over all pairs."""
        return round(fmean(pair.difference for pair in self.pairs), DECIMALS)

    @cached_property
    def accuracy(self) -> float:
        """Mean score of the method over the pairs."""
        return fmean(pair.ours.score for pair in self.pairs)

    @cached_property
    def other_accuracy(self) -> float:
        """Mean score of the other method over the pairs."""
        return fmean(pair.theirs.score for pair in self.pairs)

    @cached_property
    def by_order(self) -> tuple[float, ...]:
        """Mean difference in each order."""
        seeds: dict[int, list[float]] = {}
        for pair in self.pairs:
            seeds.setdefault(pair.seed, []).append(pair.difference)
        return tuple(round(fmean(values), DECIMALS) for values in seeds.values())

    @cached_property
    def by_query(self) -> tuple[tuple[float, ...], ...]:
        """Differences of each query, one an order in which it came."""
        queries: dict[str, list[float]] = {}
        for pair in self.pairs:
            queries.setdefault(pair.ours.query_id, []).append(pair.difference)
        return tuple(tuple(values) for values in queries.values())

    @property
    def is_binary(self) -> bool:
        """Whether every score is 0 or 1."""
        return all(
            one.score in (0.0, 1.0) for pair in self.pairs for one in (pair.ours, pair.theirs)
        )


def pair_runs(cell: Cell, other: Cell) -> PairedRuns | None:
    """Pair two cells of one configuration, `None` where they share no answered query."""
    theirs = {run.seed: run for run in other.runs}
    pairs = tuple(
        StepPair(seed=run.seed, ours=ours, theirs=before)
        for run in cell.runs
        if run.seed in theirs
        for ours, before in zip(run.steps, theirs[run.seed].steps, strict=False)
        if ours.query_id == before.query_id
    )
    if not pairs:
        return None
    return PairedRuns(method=cell.method, other=other.method, cell=cell, pairs=pairs)


def query_discordance(paired: PairedRuns) -> Discordance | None:
    """Return the exact McNemar test over queries, `None` where scores are not 0 or 1.

    A query that came in several orders counts once, by the sign of its mean difference: the same
    query again is no new evidence.
    """
    if not paired.is_binary:
        return None
    means = [round(fmean(values), DECIMALS) for values in paired.by_query]
    return mcnemar([mean < 0 for mean in means], [mean > 0 for mean in means])


def query_interval(paired: PairedRuns, *, confidence: float = 0.95) -> Interval | None:
    """Return the percentile bootstrap interval of the gain over queries, seeded.

    Queries are drawn with all the orders that they came in. `None` below two queries.
    """
    drawn = bootstrap_ratios(
        [sum(values) for values in paired.by_query],
        [len(values) for values in paired.by_query],
        rng=stream(0, "report"),
    )
    if drawn is None:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(low=float(low), high=float(high))


def bootstrap_ratios(
    sums: Sequence[float], counts: Sequence[int], *, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Return sums over counts of resampled clusters.

    Clusters with the same numbers are alike, so how often each kind is drawn is multinomial: the
    same bootstrap, without drawing each cluster.
    """
    if len(sums) < 2:
        return None
    rows = np.column_stack([np.round(sums, DECIMALS), np.asarray(counts, dtype=float)])
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    drawn = rng.multinomial(len(sums), times / len(sums), size=RESAMPLES)
    ratios: np.ndarray[tuple[int], np.dtype[np.float64]] = (drawn @ kinds[:, 0]) / (
        drawn @ kinds[:, 1]
    )
    return ratios
