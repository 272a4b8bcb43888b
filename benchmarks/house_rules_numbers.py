"""What the runs of the `house_rules` study come to: functions from records to numbers.

What is read and written is in `house_rules`, how the numbers are put in words in
`house_rules_page`; the policies are in `house_rules_policies`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from learnloop.errors import DataError
from learnloop.records.summary import summarise
from learnloop.reports.comparisons import Comparison, compare
from learnloop.reports.groups import Section, make_sections
from learnloop.reports.load import Run

ZERO_SHOT, ICL, DRPG = "zero_shot", "self_stream_icl", "drpg"
TARGET_FEEDBACK = "comment,correction=0.5"
TARGET_OVER_ZERO_SHOT = 0.35
TARGET_OVER_ICL = 0.12
TARGET_CALLS = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One run. Calls (by role), tokens and seconds are those of a mean step.

    `right` has one sign a step, 1 for a right answer. `second_half` is over the steps after the
    first half of those planned, `None` where there are none. `replayed` counts the replies that
    came from the response cache, and so took no time.
    """

    run_id: str
    spec_hash: str
    spec: Mapping[str, Any]
    method: str
    feedback: str
    seed: int
    planned: int
    steps: int
    complete: bool
    accuracy: float | None
    second_half: float | None
    calls: Mapping[str, float]
    tokens_read: float
    tokens_cached: float
    tokens_out: float
    seconds: float
    failed: int
    replayed: int
    right: str

    @property
    def name(self) -> str:
        """The method's own name, whatever reports call it."""
        return str(self.spec["method"])

    @property
    def calls_a_query(self) -> float:
        """Model calls of every role, a query."""
        return sum(self.calls.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How one method stands to the target; a gain is `None` where there is nothing to pair."""

    method: str
    second_half: float
    over_zero_shot: float | None
    over_icl: float | None
    calls: float
    seeds: tuple[int, ...]

    @property
    def reached(self) -> bool:
        """Whether all three parts of the target are met."""
        return (
            meets(self.over_zero_shot, TARGET_OVER_ZERO_SHOT)
            and meets(self.over_icl, TARGET_OVER_ICL)
            and affordable(self.calls)
        )


def numbers_of(run: Run) -> RunNumbers:
    """Add up one run."""
    found, steps = summarise(run.steps, run.timings), max(1, len(run.steps))
    roles = Counter(call.role for record in run.steps for call in record.calls)
    planned = run.planned or len(run.steps)
    late = run.scores[planned // 2 :]
    timed = run.timings[: len(run.steps)]
    return RunNumbers(
        run_id=run.info.run_id,
        spec_hash=run.info.spec_hash,
        spec=run.info.spec,
        method=str(run.info.spec.get("label") or run.info.method),
        feedback=run.feedback,
        seed=run.seed,
        planned=planned,
        steps=len(run.steps),
        complete=run.info.complete,
        accuracy=found.accuracy,
        second_half=fmean(late) if late else None,
        calls={role: roles[role] / steps for role in sorted(roles)},
        tokens_read=round((found.tokens_in - found.tokens_cached) / steps, 3),
        tokens_cached=round(found.tokens_cached / steps, 3),
        tokens_out=round(found.tokens_out / steps, 3),
        seconds=round(found.seconds / steps, 3),
        failed=found.failed,
        replayed=sum(call.replayed for timing in timed for call in timing.calls),
        right="".join("1" if score >= 1 else "0" for score in run.scores),
    )


def section_of(runs: Sequence[Run]) -> Section:
    """Return the runs as the one section that they must be."""
    sections = make_sections(runs)
    if len(sections) != 1:
        titles = [section.title for section in sections]
        raise DataError(f"runs on one environment are needed, got {titles!r}; give another --runs")
    return sections[0]


def compare_with_both(section: Section) -> tuple[list[Comparison], list[Comparison]]:
    """Compare every method with zero_shot, and every other one with self_stream_icl."""
    others = tuple(group for group in section.groups if group.method != ZERO_SHOT)
    return compare(section), compare(replace(section, groups=others))


def reach(rows: Sequence[RunNumbers]) -> list[Reach]:
    """Return how each DRPG stands to the target, the most accurate first."""
    here = [row for row in rows if row.feedback == TARGET_FEEDBACK and row.second_half is not None]
    methods = dict.fromkeys(row.method for row in here if row.name == DRPG)
    found = [_reach(method, here) for method in methods]
    return sorted(found, key=lambda one: -one.second_half)


def best_reach(reaches: Sequence[Reach]) -> Reach | None:
    """Return the DRPG to hold against the target: one that meets it, else the most accurate."""
    met = [one for one in reaches if one.reached]
    return next(iter(met or reaches), None)


def gain(rows: Sequence[RunNumbers], method: str, baseline: str) -> float | None:
    """Return the difference of two methods in the second half, over the seeds of both."""
    ours, theirs = (
        {row.seed: row.second_half or 0.0 for row in rows if row.method == one}
        for one in (method, baseline)
    )
    seeds = sorted(ours.keys() & theirs.keys())
    return fmean(ours[seed] - theirs[seed] for seed in seeds) if seeds else None


def meets(found: float | None, wanted: float) -> bool:
    """Whether a gain is as large as wanted; the last digits of a float do not decide."""
    return found is not None and round(found, 9) >= wanted


def affordable(calls: float) -> bool:
    """Whether so many calls a query are within the target; the last digits do not decide."""
    return round(calls, 9) <= TARGET_CALLS


def _reach(method: str, rows: Sequence[RunNumbers]) -> Reach:
    mine = [row for row in rows if row.method == method]
    return Reach(
        method=method,
        second_half=fmean(row.second_half or 0.0 for row in mine),
        over_zero_shot=gain(rows, method, ZERO_SHOT),
        over_icl=gain(rows, method, ICL),
        calls=fmean(row.calls_a_query for row in mine),
        seeds=tuple(sorted(row.seed for row in mine)),
    )
