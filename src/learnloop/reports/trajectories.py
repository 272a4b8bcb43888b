"""One run of a control task step by step: what a figure of its gate and its prompts shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median_low
from typing import Any

from learnloop.records.run_summary import CHANGED
from learnloop.records.schema import StepRecord
from learnloop.reports.charts import spread_out
from learnloop.reports.control_sections import ControlSection, Level
from learnloop.reports.load import Run
from learnloop.reports.wording import plural
from learnloop.types import Event, Feedback

MOST = 45
"""At most so many runs of one task are shown step by step."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionShown:
    """One version of the prompt and the steps, from 1, that were answered under it."""

    version: int
    start: int
    end: int
    text: str
    cause: str
    look: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One run as plain data for a figure. Steps are counted from 1.

    Attributes:
        name: Arm, noise and seed.
        level: The noise in words.
        is_number: Whether answers are numbers that may be off by a distance.
        leads: Whether a page opens with it.
        steps: One row a step: answer, truth, error, signal, threshold, what happened.
        terms: One row a step and other term of the gate.
        ends: The names of those terms, where there is room at the right end.
        low: The lower end of the axis of signal, threshold and terms.
        high: The upper end.
        flips: The steps at which the hidden rule or number changed.
        events: One row for all that happened to the prompt.
        versions: The prompts.
        words: The run in words.
    """

    name: str
    level: str
    is_number: bool
    leads: bool
    steps: tuple[Row, ...]
    terms: tuple[Row, ...]
    ends: tuple[Row, ...]
    low: float
    high: float
    flips: tuple[int, ...]
    events: tuple[Row, ...]
    versions: tuple[VersionShown, ...]
    words: str


def choose_trajectories(section: ControlSection, *, arm: str | None) -> list[Trajectory]:
    """Return one run an arm and level, of the first seed with steps on record, `arm` first.

    The level between the least and the most noise comes first.
    """
    middle = median_low(range(len(section.levels)))
    levels = [section.levels[middle], *section.levels[:middle], *section.levels[middle + 1 :]]
    labels = sorted(section.labels, key=lambda label: label != arm)
    chosen = [
        (label, level, run)
        for level in levels
        for label in labels
        if (run := _first(section, label, level)) is not None
    ]
    return [
        make_trajectory(
            run,
            name=f"{label}, {level.title}, seed {run.seed}",
            level=level.title,
            is_number=not section.metric.is_share,
            leads=place == 0,
        )
        for place, (label, level, run) in enumerate(chosen[:MOST])
    ]


def make_trajectory(
    run: Run, *, name: str, level: str, is_number: bool, leads: bool = False
) -> Trajectory:
    """Return one run as data for a figure."""
    flips = _flips(run.steps, is_number=is_number)
    versions = _versions(run.steps)
    steps = tuple(_step(number, record) for number, record in enumerate(run.steps, start=1))
    terms = tuple(_terms(run.steps))
    known = [row[name] for row in steps for name in ("signal", "threshold")]
    known += [row["value"] for row in terms]
    drawn = [value for value in known if value is not None]
    low, high = min([0.0, *drawn]), _ROOM * max([1e-9, *drawn])
    return Trajectory(
        name=name,
        level=level,
        is_number=is_number,
        leads=leads,
        steps=steps,
        terms=terms,
        ends=_ends(terms, low, high),
        low=low,
        high=high,
        flips=flips,
        events=tuple(_events(run.steps)),
        versions=versions,
        words=f"{_reached(run.steps, is_number=is_number)}; {_happenings(flips, run.steps)}",
    )


def _first(section: ControlSection, label: str, level: Level) -> Run | None:
    runs = section.finished(label, level) or section.at(label, level)
    return next((run.record for run in runs if run.record and run.record.steps), None)


def _step(number: int, record: StepRecord) -> Row:
    decision = record.decision
    threshold = decision.terms.get("threshold") if decision else None
    return {
        "step": number,
        "query": record.query,
        "answer": record.answer,
        "gold": record.gold,
        "verdict": "failed" if record.failed else "right" if _is_right(record) else "wrong",
        "error": _rounded(record.error),
        "false": any(_is_false(one, record.gold) for one in record.feedback),
        "heard": "; ".join(_heard(one) for one in record.feedback),
        "signal": _rounded(decision.signal if decision else None),
        "threshold": _rounded(threshold),
        "opened": bool(decision and decision.opened),
        "happened": [_told(event) for event in record.events if event.kind != _INITIAL],
    }


def _is_right(record: StepRecord) -> bool:
    return record.score >= 1.0


def _is_false(feedback: Feedback, gold: str) -> bool:
    """Whether what was observed is not the truth: another word, or an interval without it."""
    seen = feedback.observed
    if seen is None:
        return False
    low, dash, high = seen.partition("-")
    if dash and low.isdigit() and high.isdigit() and gold.isdigit():
        return not int(low) <= int(gold) <= int(high)
    return seen != gold


def _heard(feedback: Feedback) -> str:
    return feedback.comment or (f"observed {feedback.observed}" if feedback.observed else "right")


def _told(event: Event) -> str:
    name = _NAMES.get(event.kind, event.kind.replace("_", " "))
    return f"{name}: {_one_line(event.text)}" if event.text else name


def _terms(steps: Sequence[StepRecord]) -> Iterator[Row]:
    """Yield the terms besides threshold and signal that a gate moved by."""
    rows = [(n, record.decision) for n, record in enumerate(steps, start=1) if record.decision]
    names = dict.fromkeys(name for _, decision in rows for name in decision.terms)
    for name in names:
        values = [(n, d.terms.get(name), d.signal) for n, d in rows]
        if name in _NOT_DRAWN or all(value == signal for _, value, signal in values):
            continue
        for number, value, _ in values:
            if value is not None:
                yield {"step": number, "term": name, "value": _rounded(value)}


def _ends(terms: Sequence[Row], low: float, high: float) -> tuple[Row, ...]:
    """Return a name a term, at its last value or as near to it as other names allow."""
    last = list({row["term"]: row for row in terms}.values())
    shares = spread_out([(row["value"] - low) / (high - low) + _ABOVE for row in last], _APART)
    return tuple(
        {"step": row["step"], "term": row["term"], "place": _rounded(low + share * (high - low))}
        for row, share in zip(last, shares, strict=True)
    )


def _flips(steps: Sequence[StepRecord], *, is_number: bool) -> tuple[int, ...]:
    """Return the steps with a change: as tagged, else those where a rule of two is the other."""
    tagged = tuple(n for n, record in enumerate(steps, start=1) if CHANGED in record.tags)
    if tagged or is_number:
        return tagged
    sides = [_side(record) for record in steps]
    return tuple(
        number
        for number, (before, now) in enumerate(zip(sides, sides[1:], strict=False), start=2)
        if before != now
    )


def _side(record: StepRecord) -> bool:
    """Return which of the two rules of `parity` gave the true colour."""
    return (record.gold == "Red") == (record.query.isdigit() and int(record.query) % 2 == 0)


def _events(steps: Sequence[StepRecord]) -> Iterator[Row]:
    for number, record in enumerate(steps, start=1):
        for event in record.events:
            if event.kind in _NAMES:
                yield {"step": number, "kind": _NAMES[event.kind], "text": _one_line(event.text)}


def _versions(steps: Sequence[StepRecord]) -> tuple[VersionShown, ...]:
    begun: list[tuple[int, Event]] = []
    for number, record in enumerate(steps, start=1):
        for event in record.events:
            if event.kind == _INITIAL:
                begun.insert(0, (1, event))
            elif event.kind in _CAUSES:
                begun.append((number + 1, event))
    ends = [*(start - 1 for start, _ in begun[1:]), len(steps)][: len(begun)]
    looks: dict[str, int] = {}
    return tuple(
        VersionShown(
            version=int(event.refs[0]) if event.refs and event.refs[0].isdigit() else place,
            start=start,
            end=end,
            text=event.text,
            cause="first" if event.kind == _INITIAL else _CAUSES[event.kind],
            look=looks.setdefault(event.text, len(looks)),
        )
        for place, ((start, event), end) in enumerate(zip(begun, ends, strict=True))
        if start <= end
    )


def _reached(records: Sequence[StepRecord], *, is_number: bool) -> str:
    """Say how many answers were right, and of numbers, which hardly ever are, how far off."""
    right = sum(_is_right(record) for record in records)
    known = [(record.answer, record.gold) for record in records]
    numbers = [(int(a), int(g)) for a, g in known if a.isdigit() and g.isdigit()]
    if not is_number or not numbers:
        return f"{right} of {len(records)} answers right"
    off = fmean(abs(answer - gold) for answer, gold in numbers)
    return f"answers off by {off:.2f} in the mean, {right} of {len(records)} exact"


def _happenings(flips: Sequence[int], records: Sequence[StepRecord]) -> str:
    kinds = [event.kind for record in records for event in record.events]
    counts = [
        plural(kinds.count("editor_called"), "call of the editor", "calls of the editor"),
        plural(kinds.count("prompt_changed"), "edit"),
        plural(kinds.count("proposal_invalid"), "invalid proposal"),
        plural(kinds.count("rolled_back"), "rollback"),
        plural(kinds.count("recalled"), "recall"),
    ]
    changed = f"changes at steps {', '.join(map(str, flips))}; " if flips else ""
    return f"{changed}{', '.join(counts)}."


def _one_line(text: str) -> str:
    return " · ".join(line.strip() for line in text.splitlines() if line.strip())


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


_ROOM = 1.06
_ABOVE, _APART = 0.06, 0.1
"""A name stands so far above its line, and from the next name, as a share of the axis."""
_INITIAL = "prompt_initial"
_CAUSES = {"prompt_changed": "edited", "rolled_back": "rolled back", "recalled": "recalled"}
_NAMES = {
    "editor_called": "called",
    "prompt_changed": "edited",
    "prompt_kept": "kept",
    "proposal_invalid": "invalid",
    "rolled_back": "rolled back",
    "recalled": "recalled",
}
_NOT_DRAWN = {"threshold", "trial", "step"}
