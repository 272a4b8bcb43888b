"""What a page says of control tasks, as Markdown: headlines, tables, and how runs were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from learnloop.reports.control_comparison import PairedResult
from learnloop.reports.control_limits import IN_WORDS
from learnloop.reports.control_metrics import Metric
from learnloop.reports.control_page import ControlShown
from learnloop.reports.control_sections import Level
from learnloop.reports.control_table import ControlRow, RoleMeans
from learnloop.reports.markdown_table import markdown_table
from learnloop.reports.wording import MINUS, duration, listing, per_unit, plural

NOT_THERE = "–"


def write_markdown(tasks: Sequence[ControlShown]) -> str:
    """Return for each task what was reached, at what cost, and how the arms compare."""
    return "\n\n".join(_task(shown) for shown in tasks) + "\n"


def _task(shown: ControlShown) -> str:
    parts = [f"## {shown.section.title}", f"**{shown.title}.** {shown.sentence}".strip()]
    parts += [_measured(shown), *_reached(shown), *_edits(shown), *_roles(shown)]
    if shown.arm is not None and shown.results:
        parts += _comparison(shown, shown.arm)
    return "\n\n".join([*parts, *_made(shown)])


def _measured(shown: ControlShown) -> str:
    lengths = " to ".join(str(length) for length in (shown.lengths[:1] + shown.lengths[1:][-1:]))
    return (
        f"{plural(shown.run_count, 'run')} of {lengths} steps, {plural(len(shown.seeds), 'seed')}; "
        f"model {listing(shown.models)}; {shown.section.metric.name} on the true hidden target. "
        "Only runs that came to their end count."
    )


def _reached(shown: ControlShown) -> list[str]:
    metric, levels = shown.section.metric, shown.section.levels
    heads = [
        f"{level.title}: {name}" for level in levels for name in (_named(metric), "edits", "calls")
    ]
    lines = [
        [label, *(cell for level in levels for cell in _cells(metric, shown.row(label, level)))]
        for label in shown.section.labels
    ]
    notes = [
        f"- \\* {row.arm}, {_level(shown, row).title}: {'; '.join(row.notes)}."
        for row in shown.rows
        if row.notes
    ]
    said = (
        f"Mean {metric.name} ± standard deviation over seeds, the best mean of each noise level "
        "in bold; mean edits (they changed the prompt) and calls charged to them, a run."
    )
    return [
        f"### {_sentence_case(metric.name)} by arm and noise",
        said,
        markdown_table(["arm", *heads], lines),
        *(["\n".join(notes)] if notes else []),
    ]


def _cells(metric: Metric, row: ControlRow | None) -> list[str]:
    if row is None or row.mean is None:
        return [NOT_THERE] * 3
    spread = "" if row.sd is None else f" ± {metric.show(row.sd)}"
    value = f"**{metric.show(row.mean)}**" if row.is_best else metric.show(row.mean)
    flag = " \\*" if row.notes else ""
    return [value + spread + flag, per_unit(row.edits), per_unit(row.calls)]


def _edits(shown: ControlShown) -> list[str]:
    rows = [row for row in shown.rows if row.runs]
    with_limit = any(row.limit is not None for row in rows)
    heads = [
        "noise", "arm", "seeds", "calls charged", "editor called", "edits", "invalid", "rollbacks",
        "recalls", "model calls", "tokens in", "tokens out", "time",
        *(["limit", "short of it"] if with_limit else []),
    ]  # fmt: skip
    said = (
        "All are means of one run. Invalid are proposals that could not be used; they keep the "
        "prompt and cost their calls. Time is that of the steps, other runs beside it."
    )
    if with_limit:
        said += (
            f" The limit is {IN_WORDS[shown.section.task]}; edits, rollbacks and recalls all "
            "change the prompt. Over few seeds an arm may lie beyond it by chance."
        )
    lines = [_edits_line(shown, row, with_limit=with_limit) for row in rows]
    return [
        "### Calls, tokens, edits and invalid proposals",
        said,
        markdown_table(heads, lines, words=2),
    ]


def _edits_line(shown: ControlShown, row: ControlRow, *, with_limit: bool) -> list[str]:
    metric = shown.section.metric
    counts = (row.calls, row.editor_calls, row.edits, row.invalid, row.rollbacks, row.recalls)
    return [
        _level(shown, row).title,
        row.arm,
        str(len(row.seeds)),
        *map(per_unit, counts),
        per_unit(sum(role.calls for role in row.roles.values())),
        f"{row.tokens_in:.0f}",
        f"{row.tokens_out:.0f}",
        duration(row.seconds),
        *([metric.show(row.limit), metric.show_difference(row.distance)] if with_limit else []),
    ]


def _roles(shown: ControlShown) -> list[str]:
    """Return what models were called for, the mean over the levels of noise."""
    lines = [
        [label, role, per_unit(means.calls), f"{means.tokens_in:.0f}", f"{means.tokens_out:.0f}"]
        for label in shown.section.labels
        for role, means in _over_levels([row for row in shown.rows if row.arm == label]).items()
    ]
    if not lines:
        return []
    said = "What models were called for, as means of one run over all levels of noise."
    heads = ["arm", "role", "calls", "tokens in", "tokens out"]
    return ["### Cost by role", said, markdown_table(heads, lines, words=2)]


def _over_levels(rows: Sequence[ControlRow]) -> Mapping[str, RoleMeans]:
    """Return the means over all runs of some rows, each of which may have another number."""
    each = [row for row in rows for _ in range(row.runs)]
    none = RoleMeans(calls=0, tokens_in=0, tokens_out=0)
    found = {}
    for role in dict.fromkeys(role for row in each for role in row.roles):
        uses = [row.roles.get(role, none) for row in each]
        found[role] = RoleMeans(
            calls=fmean(use.calls for use in uses),
            tokens_in=fmean(use.tokens_in for use in uses),
            tokens_out=fmean(use.tokens_out for use in uses),
        )
    return found


def _comparison(shown: ControlShown, arm: str) -> list[str]:
    metric, labels = shown.section.metric, shown.section.labels
    unit = ", points" if metric.is_share else ""
    heads = [
        "against", "noise", "seeds", f"{metric.name} better by{unit}",
        "95 % interval", "wins / ties / losses", "calls", "better at no more calls",
    ]  # fmt: skip
    titles = {level.feedback: level.title for level in shown.section.levels}
    lines = [
        [
            one.other,
            titles[one.feedback],
            str(one.seeds),
            metric.show_difference(one.difference),
            show_interval(metric, one),
            f"{one.wins} / {one.ties} / {one.losses}",
            signed(one.calls),
            one.verdict,
        ]
        for one in sorted(shown.results, key=lambda one: labels.index(one.other))
    ]
    said = (
        "Differences are paired: both arms met the same stream and the same noise under a seed. "
        "Intervals are Student's t over the common seeds, not adjusted for the number of "
        "comparisons; calls is the mean difference of the calls charged."
    )
    return [f"### {arm} against each other arm", said, markdown_table(heads, lines, words=2)]


def _made(shown: ControlShown) -> list[str]:
    lines = [
        f"- {plural(one.runs, 'run')}: model {one.model} (sha256: {one.model_sha256}); "
        f"{one.packages}; {one.machine}."
        for one in shown.origins
    ]
    return ["### How the runs were made", "\n".join(lines)] if lines else []


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


def _level(shown: ControlShown, row: ControlRow) -> Level:
    return next(level for level in shown.section.levels if level.feedback == row.feedback)


def _named(metric: Metric) -> str:
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{metric.name}{unit} {metric.arrow}"


def _sentence_case(words: str) -> str:
    return words[0].upper() + words[1:]
