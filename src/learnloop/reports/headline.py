"""The sentences and big numbers at the top of a report, computed from the comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.reports.comparisons import FEW_PAIRS, FEW_SEEDS, Comparison
from learnloop.reports.groups import Section
from learnloop.reports.statistics import Interval
from learnloop.reports.tables import TableRow
from learnloop.reports.wording import (
    NARROW,
    duration,
    listing,
    p_value,
    per_unit,
    percent,
    plural,
    points,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One big number, what it is, and what it is to be held against."""

    number: str
    unit: str
    label: str
    against: str


def lead(comparisons: Sequence[Comparison]) -> Comparison:
    """Return the comparison that a report leads with: the largest gain that is not chance.

    Gains that rest on few seeds or pairs come after the others; where every gain may be chance,
    the largest leads.
    """
    return max(
        comparisons,
        key=lambda one: (one.is_significant and one.gain > 0, not one.is_small, one.gain),
    )


def title(section: Section, comparisons: Sequence[Comparison], rows: Sequence[TableRow]) -> str:
    """Return the headline of a section."""
    if not comparisons:
        return _without_baseline(section, rows)
    best = lead(comparisons)
    if best.is_significant and best.gain > 0:
        return f"{best.method} gained {points(best.gain, signed=False)} points over {best.baseline}"
    if len(comparisons) == 1 and best.is_significant:
        return f"{best.method} lost {points(-best.gain, signed=False)} points to {best.baseline}"
    if len(comparisons) == 1:
        return f"No clear difference between {best.method} and {best.baseline}"
    return f"No method is clearly better than {best.baseline}"


def sentence(comparison: Comparison, *, first: int) -> str:
    """Return one comparison in words; `first` is the number of the first step that counts."""
    one = comparison
    verb = "scored" if one.discordance is None else "was right on"
    parts = [
        f"{one.method} {verb} {percent(one.accuracy)} of the queries from step {first} on, "
        f"{one.baseline} on {percent(one.baseline_accuracy)}: {points(one.gain)} points"
        f"{_interval(one.interval)}."
    ]
    if one.discordance is not None:
        parts.append(
            f"Of {plural(one.pairs, 'paired query', 'paired queries')}, {one.discordance.gained} "
            f"became right and {one.discordance.lost} became wrong "
            f"(exact McNemar test, {p_value(one.discordance.p_value)})."
        )
    if not one.is_significant:
        parts.append("This difference may be chance." if one.gain else "That is no difference.")
    return " ".join(parts)


def caution(comparison: Comparison, rows: Sequence[TableRow]) -> str:
    """Return a warning where a comparison rests on little or on odd runs, else `""`."""
    reasons = [plural(comparison.seeds, "seed")] * (comparison.seeds < FEW_SEEDS)
    reasons += [plural(comparison.pairs, "pair")] * (comparison.pairs < FEW_PAIRS)
    few = "This rests on {} only; other seeds may give another picture."
    warnings = [few.format(listing(reasons))] if reasons else []
    warnings += [
        f"{row.method}: {note}."
        for row in rows
        if row.method in (comparison.method, comparison.baseline)
        and row.feedback == comparison.feedback
        for note in row.notes
    ]
    return " ".join(warnings)


def measured(section: Section) -> str:
    """Return what was measured: environment, model, steps, seeds, feedback."""
    runs = section.runs
    models = list(dict.fromkeys(run.info.model for run in runs))
    seeds = sorted({run.seed for run in runs})
    steps = sorted({len(run.steps) for run in runs})
    length = f"{steps[0]} to {steps[-1]} steps" if len(steps) > 1 else plural(steps[0], "step")
    modes = list(section.feedbacks)
    return (
        f"{section.title}; {'models' if len(models) > 1 else 'model'} {listing(models)}; "
        f"{plural(len(runs), 'run')} of {length}; "
        f"{'seeds' if len(seeds) > 1 else 'seed'} {listing([str(seed) for seed in seeds])}; "
        f"feedback {listing(modes)}; score: {listing(_metrics(section))}."
    )


def tiles(comparisons: Sequence[Comparison], rows: Sequence[TableRow]) -> list[Tile]:
    """Return the big numbers about the method that leads, or that is best."""
    row = _row_of(comparisons, rows)
    if row is None:
        return []
    base = _baseline_row(comparisons, rows)
    return [
        *_gain_tile(comparisons),
        Tile(
            number=percent(row.second_half).removesuffix(f"{NARROW}%"),
            unit="%",
            label="right in the second half",
            against=f"{base.method} {percent(base.second_half)}" if base else row.method,
        ),
        Tile(
            number=per_unit(row.calls_per_query),
            unit="",
            label="model calls a query",
            against=f"{base.method} {per_unit(base.calls_per_query)}" if base else row.method,
        ),
        Tile(
            number=duration(row.seconds_per_step).partition(NARROW)[0],
            unit=duration(row.seconds_per_step).partition(NARROW)[2],
            label="a step",
            against=f"{base.method} {duration(base.seconds_per_step)}" if base else row.method,
        ),
    ]


def _gain_tile(comparisons: Sequence[Comparison]) -> list[Tile]:
    if not comparisons:
        return []
    best = lead(comparisons)
    return [
        Tile(
            number=points(best.gain),
            unit="points",
            label=f"over {best.baseline}, second half",
            against=_interval(best.interval).strip(" ()") or "one pair only",
        )
    ]


def _baseline_row(comparisons: Sequence[Comparison], rows: Sequence[TableRow]) -> TableRow | None:
    """Return the row of the lead's baseline, that with the same feedback first."""
    if not comparisons:
        return None
    best = lead(comparisons)
    there = [row for row in rows if row.method == best.baseline]
    return min(there, key=lambda row: row.feedback != best.feedback, default=None)


def _row_of(comparisons: Sequence[Comparison], rows: Sequence[TableRow]) -> TableRow | None:
    if comparisons:
        best = lead(comparisons)
        key = (best.method, best.feedback)
        return next(row for row in rows if (row.method, row.feedback) == key)
    return max(rows, key=lambda row: row.second_half or 0.0, default=None)


def _without_baseline(section: Section, rows: Sequence[TableRow]) -> str:
    row = _row_of([], rows)
    if row is None or row.second_half is None:
        return f"{section.title}: no steps yet"
    return f"{row.method}: {percent(row.second_half)} right in the second half"


def _metrics(section: Section) -> list[str]:
    return list(dict.fromkeys(run.info.metric for run in section.runs))


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" (95{NARROW}% interval {points(interval.low)} to {points(interval.high)})"
