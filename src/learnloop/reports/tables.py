"""The table of a report: one row a method and feedback mode, means over the runs of its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from learnloop.records.summary import summarise
from learnloop.reports.groups import Group, Section
from learnloop.reports.load import Run
from learnloop.reports.statistics import spread
from learnloop.reports.wording import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """What one group came to. All that is not per query or per step is the mean of a run.

    `tokens_in` is `tokens_read` and `tokens_cached` together. `second_half` is over the steps
    after the first `half`. `cost` is in US dollars, `None` where the price of a call is unknown.
    `failed` is the sum over the runs. `notes` say what keeps the row from being compared as it
    stands.
    """

    environment: str
    method: str
    feedback: str
    runs: int
    seeds: tuple[int, ...]
    steps: float
    half: int
    accuracy: float | None
    accuracy_sd: float | None
    second_half: float | None
    second_half_sd: float | None
    calls: float
    calls_per_query: float | None
    tokens_in: float
    tokens_read: float
    tokens_cached: float
    tokens_out: float
    seconds: float
    seconds_per_step: float | None
    cost: float | None
    failed: int
    notes: tuple[str, ...]


def make_table(sections: Sequence[Section]) -> list[TableRow]:
    """Return the rows of all sections, in the order in which a report shows them."""
    return [
        _row(section, group)
        for section in sections
        for feedback in section.feedbacks
        for group in section.groups
        if group.feedback == feedback
    ]


def second_half(run: Run, half: int) -> tuple[float, ...]:
    """Return the scores after the first `half` steps of the stream."""
    return run.scores[half:]


def _row(section: Section, group: Group) -> TableRow:
    length = section.length(group.feedback)
    half = length // 2
    sums = [summarise(run.steps, run.timings) for run in group.runs]
    steps = sum(one.steps for one in sums)
    accuracy, accuracy_sd = _over_seeds([run.scores for run in group.runs])
    late, late_sd = _over_seeds([second_half(run, half) for run in group.runs])
    calls, seconds = sum(one.calls for one in sums), sum(one.seconds for one in sums)
    return TableRow(
        environment=section.title,
        method=group.label,
        feedback=group.feedback,
        runs=len(group.runs),
        seeds=group.seeds,
        steps=steps / len(sums),
        half=half,
        accuracy=accuracy,
        accuracy_sd=accuracy_sd,
        second_half=late,
        second_half_sd=late_sd,
        calls=calls / len(sums),
        calls_per_query=calls / steps if steps else None,
        tokens_in=fmean(one.tokens_in for one in sums),
        tokens_read=fmean(one.tokens_in - one.tokens_cached for one in sums),
        tokens_cached=fmean(one.tokens_cached for one in sums),
        tokens_out=fmean(one.tokens_out for one in sums),
        seconds=seconds / len(sums),
        seconds_per_step=seconds / steps if steps else None,
        cost=_cost(group),
        failed=sum(one.failed for one in sums),
        notes=_notes(group, length=length),
    )


def _cost(group: Group) -> float | None:
    calls = [call for run in group.runs for record in run.steps for call in record.calls]
    known = [call.cost for call in calls if call.cost is not None]
    return sum(known) / len(group.runs) if len(known) == len(calls) else None


def _over_seeds(samples: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    means = [fmean(scores) for scores in samples if scores]
    if not means:
        return None, None
    summary = spread(means)
    return summary.mean, summary.sd


def _notes(group: Group, *, length: int) -> tuple[str, ...]:
    notes = (_incomplete(group), _shorter(group, length), _twice(group), _replayed(group))
    return tuple(note for note in notes if note)


def _incomplete(group: Group) -> str:
    ends = "; ".join(_end(run) for run in group.runs if not run.info.complete)
    return f"incomplete ({ends})" if ends else ""


def _end(run: Run) -> str:
    planned = "" if run.planned is None else f" of {run.planned}"
    why = f", {run.info.stopped}" if run.info.stopped else ""
    return f"seed {run.seed}: {len(run.steps)}{planned} steps{why}"


def _shorter(group: Group, length: int) -> str:
    short = [run for run in group.runs if len(run.steps) < length and run.info.complete]
    ends = ", ".join(f"seed {run.seed}: {len(run.steps)}" for run in short)
    return f"shorter than the longest run of {length} steps ({ends})" if short else ""


def _twice(group: Group) -> str:
    extra = len(group.runs) - len(group.seeds)
    return f"{plural(extra, 'run')} repeated under the same seed" if extra else ""


def _replayed(group: Group) -> str:
    timings = [call for run in group.runs for timing in run.timings for call in timing.calls]
    replayed = sum(call.replayed for call in timings)
    if not replayed:
        return ""
    return f"{replayed} of {len(timings)} replies came from the response cache: seconds are too low"
