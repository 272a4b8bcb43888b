"""Who beats whom over the configurations of a study, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from learnloop.reports.grid import Benchmark, Grid
from learnloop.reports.paired_runs import (
    PairedRuns,
    pair_runs,
    query_discordance,
    query_interval,
)
from learnloop.reports.statistics import (
    Discordance,
    Interval,
    SignedRanks,
    SignTest,
    holm,
    sign_test,
    signed_ranks,
)

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One method against another over all configurations that have both.

    The tests are one-sided: that `method` is better. A configuration is a benchmark and a model;
    its difference is the mean over all paired queries of all orders.

    Attributes:
        overall: Wins, ties and losses over configurations, with the exact sign test.
        ranks: Wilcoxon's test on the differences of the configurations.
        by_benchmark: The same as `overall` for each benchmark, by its title.
        by_order: Every order counted for itself. Orders of one configuration share their queries,
            so no test is made of it.
    """

    method: str
    other: str
    overall: SignTest
    ranks: SignedRanks
    by_benchmark: Mapping[str, SignTest]
    by_order: SignTest

    @property
    def configurations(self) -> int:
        """How many configurations have both."""
        return self.overall.wins + self.overall.ties + self.overall.losses

    @property
    def several_orders(self) -> bool:
        """Whether some configuration was run in more than one order."""
        return self.by_order.wins + self.by_order.ties + self.by_order.losses > self.configurations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationTest:
    """One method against a reference in one configuration, over the queries that both answered.

    `discordance` is the exact McNemar test over queries, `adjusted` its p-value after Holm's method
    for all tests of the study; both are `None` where scores are not 0 or 1.
    """

    method: str
    reference: str
    benchmark: str
    model: str
    accuracy: float
    reference_accuracy: float
    gain: float
    interval: Interval | None
    discordance: Discordance | None
    queries: int
    orders: int
    adjusted: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether both the interval and the test (where there is one) leave chance out."""
        if self.interval is None or not self.interval.excludes_zero():
            return False
        return self.adjusted is None or self.adjusted < ALPHA


def make_standings(grid: Grid) -> list[Standing]:
    """Compare every pair of methods, the later one in the table with the earlier one."""
    found = [_standing(grid, method, other) for other, method in combinations(grid.compared, 2)]
    return [one for one in found if one is not None]


def compare_configurations(grid: Grid) -> list[ConfigurationTest]:
    """Test every method against the references that stand before it, in each configuration."""
    found = [
        _test(paired, benchmark.title, model)
        for reference in grid.references
        for method in grid.compared[grid.compared.index(reference) + 1 :]
        for benchmark, model in grid.configurations
        if (paired := pair_in(grid, method, reference, where=(benchmark, model)))
    ]
    return _adjusted(found)


def pair_in(
    grid: Grid, method: str, other: str, *, where: tuple[Benchmark, str]
) -> PairedRuns | None:
    """Pair two methods in one configuration, `None` where it has not both."""
    ours, theirs = grid.at(method, *where), grid.at(other, *where)
    return None if ours is None or theirs is None else pair_runs(ours, theirs)


def _standing(grid: Grid, method: str, other: str) -> Standing | None:
    found = {
        (benchmark.title, model): paired
        for benchmark, model in grid.configurations
        if (paired := pair_in(grid, method, other, where=(benchmark, model)))
    }
    if not found:
        return None
    gains: dict[str, list[float]] = {}
    for (title, _), paired in found.items():
        gains.setdefault(title, []).append(paired.gain)
    every = [gain for values in gains.values() for gain in values]
    return Standing(
        method=method,
        other=other,
        overall=sign_test(every),
        ranks=signed_ranks(every),
        by_benchmark={title: sign_test(values) for title, values in gains.items()},
        by_order=sign_test([gain for paired in found.values() for gain in paired.by_order]),
    )


def _test(paired: PairedRuns, benchmark: str, model: str) -> ConfigurationTest:
    return ConfigurationTest(
        method=paired.method,
        reference=paired.other,
        benchmark=benchmark,
        model=model,
        accuracy=paired.accuracy,
        reference_accuracy=paired.other_accuracy,
        gain=paired.gain,
        interval=query_interval(paired),
        discordance=query_discordance(paired),
        queries=len(paired.by_query),
        orders=len(paired.by_order),
    )


def _adjusted(tests: Sequence[ConfigurationTest]) -> list[ConfigurationTest]:
    tested = [one.discordance.p_value for one in tests if one.discordance is not None]
    adjusted = iter(holm(tested))
    return [
        one if one.discordance is None else replace(one, adjusted=next(adjusted)) for one in tests
    ]
