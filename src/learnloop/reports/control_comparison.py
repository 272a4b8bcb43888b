"""One arm of a control task against every other, paired by seed: better, and at what price?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy import stats

from learnloop.reports.control_sections import ControlRun, ControlSection, Level
from learnloop.reports.control_table import ControlRow
from learnloop.reports.statistics import Interval, spread

CONFIDENCE = 0.95
LEAST_SEEDS = 3
"""Over fewer common seeds any difference may be chance."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedResult:
    """One arm against another at one level of noise, over the seeds that both have.

    Attributes:
        arm: The arm that is compared.
        other: What it is compared with.
        feedback: The feedback, in the words of the spec.
        noise: Share of the feedback that is wrong.
        seeds: How many seeds both finished.
        difference: Mean by which `arm` is better; below 0 where it is worse.
        interval: 95 % interval of that mean by Student's t; `None` for a single seed.
        wins: Seeds under which `arm` is better.
        ties: Seeds under which both are the same.
        losses: Seeds under which it is worse.
        calls: Mean difference of the calls charged.
    """

    arm: str
    other: str
    feedback: str
    noise: float
    seeds: int
    difference: float
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    calls: float

    @property
    def is_better(self) -> bool:
        """Whether the arm is better in the mean, and takes no more calls."""
        return self.difference > _ROUNDING and self.calls <= 0

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves no difference out; of two seeds it says next to nothing.

        Two seeds with the same difference, which shares of few steps often are, have an interval
        without width.
        """
        if self.interval is None or self.seeds < LEAST_SEEDS:
            return False
        return self.interval.excludes_zero()

    @property
    def verdict(self) -> str:
        """Whether it is better at no more calls, in words."""
        if self.is_better:
            return "yes" if self.is_sure else "yes, may be chance"
        if abs(self.difference) <= _ROUNDING:
            return "no: the same" + (", more calls" if self.calls > 0 else "")
        if self.difference < 0:
            return "no: worse" if self.is_sure else "no: worse, may be chance"
        return "no: more calls" if self.is_sure else "no: more calls, may be chance"


def choose_arm(section: ControlSection, rows: Sequence[ControlRow]) -> str | None:
    """Return the arm that is marked as ours, else the one that is best at most levels."""
    ours = [arm.label for arm in section.arms if arm.is_ours]
    there = {row.arm for row in rows if row.mean is not None}
    candidates = [label for label in ours if label in there] or [
        label for label in section.labels if label in there
    ]
    wins = {label: sum(row.is_best for row in rows if row.arm == label) for label in candidates}
    return max(candidates, key=lambda label: wins[label], default=None)


def compare_arms(section: ControlSection, arm: str) -> list[PairedResult]:
    """Compare one arm with every other, level by level; pairs without a common seed left out."""
    found = [
        _compare(section, arm, other, level)
        for level in section.levels
        for other in section.labels
        if other != arm
    ]
    return [one for one in found if one is not None]


def beaten_everywhere(results: Sequence[PairedResult]) -> list[str]:
    """Return the arms that are beaten at no more calls at every level where they are compared."""
    others = dict.fromkeys(one.other for one in results)
    return [other for other in others if all(r.is_better for r in results if r.other == other)]


def _compare(section: ControlSection, arm: str, other: str, level: Level) -> PairedResult | None:
    ours, theirs = (_by_seed(section, label, level) for label in (arm, other))
    pairs = [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]
    scored = [(section.metric.of(a.summary), section.metric.of(b.summary)) for a, b in pairs]
    gains = [section.metric.better(a, b) for a, b in scored if a is not None and b is not None]
    if not gains:
        return None
    return PairedResult(
        arm=arm,
        other=other,
        feedback=level.feedback,
        noise=level.noise,
        seeds=len(gains),
        difference=fmean(gains),
        interval=_interval(gains),
        wins=sum(gain > _ROUNDING for gain in gains),
        ties=sum(abs(gain) <= _ROUNDING for gain in gains),
        losses=sum(gain < -_ROUNDING for gain in gains),
        calls=fmean(a.summary.calls_charged - b.summary.calls_charged for a, b in pairs),
    )


def _by_seed(section: ControlSection, label: str, level: Level) -> Mapping[int, ControlRun]:
    return {run.summary.seed: run for run in section.finished(label, level)}


def _interval(gains: Sequence[float]) -> Interval | None:
    found = spread(gains)
    if found.sd is None:
        return None
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, found.n - 1))
    margin = quantile * found.sd / math.sqrt(found.n)
    return Interval(low=found.mean - margin, high=found.mean + margin)
