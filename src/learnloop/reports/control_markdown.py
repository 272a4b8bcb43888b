"""The tables of the control tasks as Markdown, for a page of results."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.reports.control_comparison import PairedResult, choose_arm, compare_arms
from learnloop.reports.control_metrics import Metric
from learnloop.reports.control_sections import ControlSection, Level
from learnloop.reports.control_table import ControlRow, make_control_rows
from learnloop.reports.wording import MINUS, duration, per_unit

Cells = Sequence[str]


def write_markdown(sections: Sequence[ControlSection]) -> str:
    """Return the tables of all sections: what was reached, the cost, and the comparison."""
    return "\n\n".join(_section(section) for section in sections) + "\n"


def _section(section: ControlSection) -> str:
    rows = make_control_rows(section)
    arm = choose_arm(section, rows)
    parts = [f"## {section.title}", _reached(section, rows), _cost(section, rows)]
    if arm is not None and (results := compare_arms(section, arm)):
        parts.append(_comparison(section, arm, results))
    notes = [
        f"- {row.arm}, {_level(section, row).title}: {'; '.join(row.notes)}."
        for row in rows
        if row.notes
    ]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _reached(section: ControlSection, rows: Sequence[ControlRow]) -> str:
    metric = section.metric
    heads = [
        f"{level.title}: {name}"
        for level in section.levels
        for name in (f"{_named(metric)}", "edits", "calls")
    ]
    lines = [
        [label, *(cell for level in section.levels for cell in _cells(metric, rows, label, level))]
        for label in section.labels
    ]
    return _table(["arm", *heads], lines)


def _cells(metric: Metric, rows: Sequence[ControlRow], label: str, level: Level) -> list[str]:
    row = next((r for r in rows if (r.arm, r.feedback) == (label, level.feedback)), None)
    if row is None or row.mean is None:
        return ["–", "–", "–"]
    spread = "" if row.sd is None else f" ± {metric.show(row.sd)}"
    value = f"**{metric.show(row.mean)}**" if row.is_best else metric.show(row.mean)
    return [value + spread, per_unit(row.edits), per_unit(row.calls)]


def _cost(section: ControlSection, rows: Sequence[ControlRow]) -> str:
    with_limit = any(row.limit is not None for row in rows)
    heads = [
        "noise", "arm", "seeds", "edits", "invalid", "rollbacks", "recalls", "calls charged",
        "model calls", "tokens in", "tokens out", "seconds",
    ]  # fmt: skip
    lines = [_cost_line(section, row, with_limit=with_limit) for row in rows]
    return _table([*heads, *(["short of the limit"] if with_limit else [])], lines, words=2)


def _cost_line(section: ControlSection, row: ControlRow, *, with_limit: bool) -> list[str]:
    calls = ", ".join(f"{role} {per_unit(count)}" for role, count in row.model_calls.items())
    line = [
        _level(section, row).title,
        row.arm,
        str(len(row.seeds)),
        per_unit(row.edits),
        per_unit(row.invalid),
        per_unit(row.rollbacks),
        per_unit(row.recalls),
        per_unit(row.calls),
        calls or "none",
        f"{row.tokens_in:.0f}",
        f"{row.tokens_out:.0f}",
        duration(row.seconds),
    ]
    return [*line, *([section.metric.show_difference(row.distance)] if with_limit else [])]


def _comparison(section: ControlSection, arm: str, results: Sequence[PairedResult]) -> str:
    heads = [
        f"{arm} against", "noise", "seeds", f"{section.metric.name} better by",
        "95 % interval", "wins / ties / losses", "calls", "better at no more calls",
    ]  # fmt: skip
    lines = [
        [
            one.other,
            f"η = {one.noise:g}",
            str(one.seeds),
            section.metric.show_difference(one.difference),
            show_interval(section.metric, one),
            f"{one.wins} / {one.ties} / {one.losses}",
            signed(one.calls),
            one.verdict,
        ]
        for one in sorted(results, key=lambda one: section.labels.index(one.other))
    ]
    return _table(heads, lines, words=2)


def show_interval(metric: Metric, result: PairedResult) -> str:
    """Return the interval of a paired difference in words."""
    if result.interval is None:
        return "one seed"
    low, high = result.interval.low, result.interval.high
    return f"{metric.show_difference(low)} to {metric.show_difference(high)}"


def signed(number: float) -> str:
    """Return a difference of counts with its sign.

    Examples:
        >>> signed(2.0), signed(-0.5), signed(0.0)
        ('+2.0', '−0.5', '0')
    """
    if abs(number) < 0.05:
        return "0"
    return f"{MINUS if number < 0 else '+'}{abs(number):.1f}"


def _level(section: ControlSection, row: ControlRow) -> Level:
    return next(level for level in section.levels if level.feedback == row.feedback)


def _named(metric: Metric) -> str:
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{metric.name}{unit} {metric.arrow}"


def _table(heads: Cells, lines: Sequence[Cells], *, words: int = 1) -> str:
    """Return a table whose first columns hold words, and the others numbers."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join("| " + " | ".join(map(_escape, line)) + " |" for line in (heads, rule, *lines))


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
