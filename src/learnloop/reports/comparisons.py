"""What each method gained over its baseline in the second half of the stream, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from learnloop.reports.groups import Group, Section
from learnloop.reports.load import Run
from learnloop.reports.statistics import Discordance, Interval, holm, mcnemar, paired_interval
from learnloop.seeding import stream

FEW_PAIRS = 30
FEW_SEEDS = 3
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One method against its baseline, on the steps where both answered the same query.

    Attributes:
        accuracy: Mean score of the method over the pairs.
        baseline_accuracy: Mean score of the baseline over the pairs.
        gain: The difference of the two.
        interval: 95 % bootstrap interval of the gain over seeds × steps.
        discordance: Exact McNemar test, adjusted for the number of methods compared; `None`
            where scores are not all 0 or 1.
        pairs: Number of pairs.
        seeds: Number of seeds that have pairs.
    """

    method: str
    feedback: str
    baseline: str
    accuracy: float
    baseline_accuracy: float
    gain: float
    interval: Interval | None
    discordance: Discordance | None
    pairs: int
    seeds: int

    @property
    def low(self) -> float:
        """The lower end of the interval, or the gain where there is none."""
        return self.interval.low if self.interval else self.gain

    @property
    def high(self) -> float:
        """The upper end of the interval, or the gain where there is none."""
        return self.interval.high if self.interval else self.gain

    @property
    def is_significant(self) -> bool:
        """Whether both the interval and the test (where there is one) leave chance out."""
        if self.interval is None or not self.interval.excludes_zero():
            return False
        return self.discordance is None or self.discordance.p_value < ALPHA

    @property
    def is_small(self) -> bool:
        """Whether so few pairs or seeds speak that another set of seeds may say otherwise."""
        return self.pairs < FEW_PAIRS or self.seeds < FEW_SEEDS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    seed: int
    baseline: float
    score: float


def compare(section: Section) -> list[Comparison]:
    """Compare every method of a section with its baseline, the largest gain first.

    A group that has no baseline, or shares no query with it at the same step and seed, is left
    out.
    """
    found = [
        comparison
        for group in section.groups
        if (baseline := section.baseline_of(group)) is not None
        and (comparison := _compare(section, group, baseline)) is not None
    ]
    return sorted(_adjusted(found), key=lambda one: -one.gain)


def _compare(section: Section, group: Group, baseline: Group) -> Comparison | None:
    half = section.length(group.feedback) // 2
    pairs = _pairs(group, baseline, half=half)
    if not pairs:
        return None
    differences = [pair.score - pair.baseline for pair in pairs]
    return Comparison(
        method=group.label,
        feedback=group.feedback,
        baseline=baseline.label,
        accuracy=fmean(pair.score for pair in pairs),
        baseline_accuracy=fmean(pair.baseline for pair in pairs),
        gain=fmean(differences),
        interval=paired_interval(differences, rng=stream(0, "report")),
        discordance=_discordance(pairs),
        pairs=len(pairs),
        seeds=len({pair.seed for pair in pairs}),
    )


def _pairs(group: Group, baseline: Group, *, half: int) -> list[_Pair]:
    ours, theirs = _longest_by_seed(group), _longest_by_seed(baseline)
    return [
        _Pair(seed=seed, baseline=before.score, score=after.score)
        for seed in sorted(ours.keys() & theirs.keys())
        for before, after in zip(theirs[seed].steps[half:], ours[seed].steps[half:], strict=False)
        if before.query_id == after.query_id
    ]


def _longest_by_seed(group: Group) -> dict[int, Run]:
    ordered = sorted(group.runs, key=lambda run: len(run.steps))
    return {run.seed: run for run in ordered}


def _discordance(pairs: Sequence[_Pair]) -> Discordance | None:
    if any(score not in (0.0, 1.0) for pair in pairs for score in (pair.baseline, pair.score)):
        return None
    return mcnemar([pair.baseline == 1.0 for pair in pairs], [pair.score == 1.0 for pair in pairs])


def _adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    tested = [one.discordance.p_value for one in comparisons if one.discordance is not None]
    adjusted = iter(holm(tested))
    return [
        one
        if one.discordance is None
        else replace(one, discordance=replace(one.discordance, p_value=next(adjusted)))
        for one in comparisons
    ]
