"""The arithmetic of the reports: pure functions from numbers to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from learnloop.errors import ParameterError

RESAMPLES = 9_999
Zeros = Literal["wilcox", "pratt", "zsplit"]
"""What becomes of differences that are zero; see `signed_ranks`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A mean, and the standard deviation of a sample (`None` for a sample of one)."""

    mean: float
    sd: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The two ends of a confidence interval."""

    low: float
    high: float

    def excludes_zero(self) -> bool:
        """Whether zero lies outside."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Discordance:
    """Paired outcomes that differ: `gained` turned right, `lost` turned wrong.

    `p_value` is that of the exact McNemar test, two-sided.
    """

    gained: int
    lost: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SignTest:
    """Wins, ties and losses, and the exact one-sided sign test that wins are more likely.

    Ties say nothing about which is better and are left out of the test.
    """

    wins: int
    ties: int
    losses: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks:
    """Wilcoxon's signed-rank test, one-sided: differences tend to be above zero.

    `statistic` is the sum of the ranks of positive differences, `used` how many were ranked,
    `zeros` how many were zero; `p_value` is `None` where none is left to rank.
    """

    statistic: float
    used: int
    zeros: int
    p_value: float | None


def spread(values: Sequence[float]) -> Spread:
    """Return mean and sample standard deviation (ddof 1).

    Examples:
        >>> spread([1.0, 3.0])
        Spread(mean=2.0, sd=1.4142135623730951, n=2)
    """
    sample = np.asarray(values, dtype=float)
    if sample.size == 0:
        raise ParameterError("values must not be empty: no spread without a value")
    sd = float(sample.std(ddof=1)) if sample.size > 1 else None
    return Spread(mean=float(sample.mean()), sd=sd, n=int(sample.size))


def rolling_mean(values: Sequence[float], window: int, *, least: int = 1) -> list[float | None]:
    """Return the mean of the last `window` values at each place.

    Near the start there are fewer; where there are fewer than `least`, the mean is `None`.

    Examples:
        >>> rolling_mean([1.0, 0.0, 0.0, 0.0], 2, least=2)
        [None, 0.5, 0.0, 0.0]
    """
    if not 1 <= least <= window:
        raise ParameterError(f"least must be from 1 to the window {window!r}, got {least!r}")
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=float))])
    means: list[float | None] = []
    for end in range(1, len(values) + 1):
        start = max(0, end - window)
        enough = end - start >= least
        means.append(float(sums[end] - sums[start]) / (end - start) if enough else None)
    return means


def cumulative_mean(values: Sequence[float]) -> list[float | None]:
    """Return the mean of everything up to each place.

    Examples:
        >>> cumulative_mean([1.0, 0.0])
        [1.0, 0.5]
    """
    sums = np.cumsum(np.asarray(values, dtype=float))
    return [float(total / (place + 1)) for place, total in enumerate(sums)]


def paired_interval(
    differences: Sequence[float], *, rng: np.random.Generator, confidence: float = 0.95
) -> Interval | None:
    """Return the bootstrap interval of a mean of paired differences, `None` below two pairs.

    Differences that are all equal leave nothing to resample: the interval is that value.
    """
    sample = np.asarray(differences, dtype=float)
    if sample.size < 2:
        return None
    if np.ptp(sample) == 0:
        return Interval(low=float(sample[0]), high=float(sample[0]))
    result = stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=500,
        confidence_level=confidence,
        method="percentile",
        rng=rng,
    )
    ends = result.confidence_interval
    return Interval(low=float(ends.low), high=float(ends.high))


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> Discordance:
    """Return the exact McNemar test of two outcomes on the same queries.

    Only pairs that differ speak; under the null each is as likely to be a gain as a loss.
    """
    gained = sum(1 for b, a in zip(before, after, strict=True) if a and not b)
    lost = sum(1 for b, a in zip(before, after, strict=True) if b and not a)
    differing = gained + lost
    p_value = float(stats.binomtest(gained, differing, 0.5).pvalue) if differing else 1.0
    return Discordance(gained=gained, lost=lost, p_value=p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for how many there are (Holm's step-down), in the order given.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    ranked = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(ranked):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = running
    return adjusted


def sign_test(differences: Sequence[float]) -> SignTest:
    """Count wins, ties and losses, and test one-sidedly whether wins prevail.

    Examples:
        >>> sign_test([0.2, 0.1, 0.0, -0.1]).p_value
        0.5
    """
    wins = sum(value > 0 for value in differences)
    losses = sum(value < 0 for value in differences)
    ties = len(differences) - wins - losses
    decided = wins + losses
    test = stats.binomtest(wins, decided, 0.5, alternative="greater") if decided else None
    return SignTest(wins=wins, ties=ties, losses=losses, p_value=float(test.pvalue) if test else 1)


def signed_ranks(differences: Sequence[float], *, zeros: Zeros = "wilcox") -> SignedRanks:
    """Return Wilcoxon's signed-rank test, one-sided (greater), by `scipy.stats.wilcoxon`.

    Args:
        differences: One a configuration.
        zeros: `wilcox` leaves zero differences out; `pratt` ranks them and then drops their ranks;
            `zsplit` gives half of their ranks to either side.
    """
    sample = np.asarray(differences, dtype=float)
    count = int((sample == 0).sum())
    used = int(sample.size) - (count if zeros == "wilcox" else 0)
    if count == sample.size:
        return SignedRanks(statistic=0.0, used=0, zeros=count, p_value=None)
    found = stats.wilcoxon(sample, zero_method=zeros, alternative="greater")
    return SignedRanks(
        statistic=float(found.statistic), used=used, zeros=count, p_value=float(found.pvalue)
    )
