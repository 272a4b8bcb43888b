"""What a page says across the environments of a study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from learnloop.reports.main_table import ModelBlock, Score
from learnloop.reports.markdown_table import markdown_table
from learnloop.reports.memory_use import NOT_CITED
from learnloop.reports.reference_numbers import SourceNumbers
from learnloop.reports.statistics import Interval, SignTest
from learnloop.reports.study_page import StudyShown, show_size
from learnloop.reports.token_costs import ExtraCost, TokenCost
from learnloop.reports.wording import (
    count,
    duration,
    listing,
    p_value,
    per_unit,
    percent,
    plural,
    signed_count,
    signed_tenths,
    spread_points,
    tenths,
)

NOT_THERE = "–"


def write_study(study: StudyShown) -> str:
    """Return the tables of a study: scores, statistics, costs, policies, memory, references."""
    parts = [[f"## {study.title}"], _main(study), _apart(study), _standings(study), _tests(study)]
    parts += [_families(study), _costs(study), _generality(study), _memory(study)]
    parts += [_published(study.published)]
    return "\n\n".join(chain.from_iterable(parts)) + "\n"


def _with_rows(study: StudyShown, *texts: str) -> list[str]:
    return [*texts, *([f"*Notes.* {study.subsets}"] if study.subsets else [])]


def _main(study: StudyShown) -> list[str]:
    heads = ["method", *(f"{one.title} ({one.metric}, %)" for one in study.grid.benchmarks)]
    said = (
        "Mean ± standard deviation over orders, n = orders × steps in brackets; the best mean of "
        "each model and benchmark in bold. Failed steps count as wrong."
    )
    tables = [
        text
        for block in study.blocks
        for text in (f"Model {block.model}", _block(study, block, heads))
    ]
    noted = "\n".join(f"- \\* {note}" for note in study.noted)
    return _with_rows(
        study, "### Score by method and benchmark", said, *tables, *([noted] if noted else [])
    )


def _block(study: StudyShown, block: ModelBlock, heads: Sequence[str]) -> str:
    lines = [
        [line.method, *(_score(line.scores.get(one.title)) for one in study.grid.benchmarks)]
        for line in block.lines
    ]
    return markdown_table(heads, lines)


def _score(score: Score | None) -> str:
    if score is None or score.mean is None:
        return NOT_THERE
    mean = f"**{tenths(score.mean)}**" if score.is_best else tenths(score.mean)
    beside = "".join(f", {name.upper()} {tenths(value)}" for name, value in score.beside)
    flag = " \\*" if score.notes else ""
    return f"{mean} {spread_points(score.sd)}".strip() + f" ({show_size(score)}{beside}){flag}"


def _apart(study: StudyShown) -> list[str]:
    if not study.apart:
        return []
    heads = ["method", "benchmark", "model", "rows", "steps", "set apart", "score on them"]
    lines = [
        [
            *(one.method, one.benchmark, one.model, one.tag, str(one.steps), str(one.tagged)),
            *(tenths(one.on_tagged), tenths(one.accuracy), tenths(one.without)),
        ]
        for one in study.apart
    ]
    why = {one.tag: one.why for one in study.apart}
    said = " ".join(f"{tag[0].upper()}{tag[1:]}: {reason}." for tag, reason in why.items())
    table = markdown_table([*heads, "with them", "without them"], lines, words=4)
    return _with_rows(study, "### With and without rows set apart", said, table)


def _standings(study: StudyShown) -> list[str]:
    if not study.standings:
        return []
    titles = [one.title for one in study.grid.benchmarks]
    orders = any(one.several_orders for one in study.standings)
    heads = ["method", "over", "wins / ties / losses", "sign test", "Wilcoxon", "zero differences"]
    heads += ["each order counted"] if orders else []
    lines = [
        [
            *(one.method, one.other, _tally(one.overall), p_value(one.overall.p_value)),
            NOT_THERE if one.ranks.p_value is None else p_value(one.ranks.p_value),
            str(one.ranks.zeros),
            *([_tally(one.by_order)] if orders else []),
            *(_on(one.by_benchmark.get(title)) for title in titles),
        ]
        for one in study.standings
    ]
    said = (
        "A configuration is a benchmark and a model. Tests are one-sided (the first method is "
        "better) and not adjusted for the number of pairs; the sign test is exact and leaves ties "
        "out, Wilcoxon's signed-rank test leaves zero differences out (his own rule). Over "
        f"{plural(len(study.grid.configurations), 'configuration')} the sign test cannot go below "
        f"p = {study.least_p:.2g}."
    )
    table = markdown_table([*heads, *titles], lines, words=2)
    return _with_rows(study, "### Who beats whom over configurations", said, table)


def _tally(test: SignTest) -> str:
    return f"{test.wins} / {test.ties} / {test.losses}"


def _on(test: SignTest | None) -> str:
    if test is None:
        return NOT_THERE
    several = test.wins + test.ties + test.losses > 1
    return f"{_tally(test)}, {p_value(test.p_value)}" if several else _tally(test)


def _tests(study: StudyShown) -> list[str]:
    if not study.tests:
        return []
    heads = [
        "method", "over", "benchmark", "model", "points", "95 % interval", "score", "from",
        "turned right", "turned wrong", "queries", "orders", "exact McNemar", "adjusted",
    ]  # fmt: skip
    lines = []
    for one in study.tests:
        found = one.discordance
        lines.append(
            [
                *(one.method, one.reference, one.benchmark, one.model, signed_tenths(one.gain)),
                *(_interval(one.interval), tenths(one.accuracy), tenths(one.reference_accuracy)),
                str(found.gained) if found else NOT_THERE,
                str(found.lost) if found else NOT_THERE,
                *(str(one.queries), str(one.orders)),
                p_value(found.p_value) if found else "scores are not 0 or 1",
                NOT_THERE if one.adjusted is None else p_value(one.adjusted),
            ]
        )
    said = (
        "On the queries that both answered at the same step of the same order, whole stream. "
        "Bootstrap intervals over queries (9,999 resamples, seeded); McNemar's test over queries, "
        f"two-sided, then adjusted for {plural(len(study.tests), 'comparison')} by Holm's method. "
        "Answers of a method that learns depend on each other: true intervals are wider."
    )
    table = markdown_table(heads, lines, words=4)
    return _with_rows(study, "### Gain in each configuration", said, table)


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "one query only"
    return f"{signed_tenths(interval.low)} to {signed_tenths(interval.high)}"


def _families(study: StudyShown) -> list[str]:
    if not study.families:
        return []
    heads = ["family", *(f"{method} over {ref}" for ref, method in study.gain_heads)]
    lines = []
    for family in dict.fromkeys(one.family for one in study.families):
        gains = [study.gain_of(family, head) for head in study.gain_heads]
        lines.append(
            [
                family,
                *(f"{signed_tenths(g.gain)} (n = {g.configurations})" if g else "–" for g in gains),
            ]
        )
    said = "Points, the mean over the n configurations of a family of models."
    return _with_rows(study, "### Gain by family of models", said, markdown_table(heads, lines))


def _costs(study: StudyShown) -> list[str]:
    if not study.costs:
        return []
    heads = [
        "method", "benchmark", "model", "calls", "tokens in", "from cache", "tokens out",
        "by role, in / out", "time a step",
        *(f"tokens for an extra right answer over {one}" for one in study.grid.references),
    ]  # fmt: skip
    lines = [_cost(one, study.grid.references) for one in study.costs]
    said = (
        "A query, over the calls of all roles; tokens in include cached ones. An extra right "
        "answer costs the tokens read and written beyond the reference over the answers got right "
        "beyond it; where there is no gain it is not defined, and below zero the method is right "
        "more often for fewer tokens."
    )
    table = markdown_table(heads, lines, words=3)
    return _with_rows(study, "### Tokens, and what an extra right answer costs", said, table)


def _cost(one: TokenCost, references: Sequence[str]) -> list[str]:
    roles = [
        f"{role} {count(use.tokens_in)} / {count(use.tokens_out)}"
        for role, use in one.roles.items()
    ]
    return [
        *(one.method, one.benchmark, one.model, per_unit(one.calls), count(one.tokens_in)),
        *(count(one.tokens_cached), count(one.tokens_out), ", ".join(roles) or NOT_THERE),
        duration(one.seconds),
        *(_extra(one.over(reference)) for reference in references),
    ]


def _extra(extra: ExtraCost | None) -> str:
    if extra is None:
        return NOT_THERE
    if extra.tokens is None:
        return f"not defined ({signed_tenths(extra.gain)} points)"
    return f"{signed_count(extra.tokens)} ({signed_count(extra.written)} written)"


def _generality(study: StudyShown) -> list[str]:
    if not study.generality:
        return []
    heads = [
        "method", "benchmark", "model", "bullets shown", "different texts", "recurring", "reach",
        "gain, points", "over",
    ]  # fmt: skip
    lines = [
        [
            *(one.method, one.benchmark, one.model, count(one.shown), count(one.distinct)),
            *(percent(one.recurring), percent(one.reach), signed_tenths(one.gain)),
            one.reference or NOT_THERE,
        ]
        for one in study.generality
    ]
    said = (
        "Recurring: share of shown bullets that came back with another query of the same run, "
        f"themselves or one that says the same {study.sameness}. Reach: mean share of the run's "
        "other queries with a policy at which they did."
    )
    if study.correlation is not None:
        said += f" Spearman's correlation of reach and gain: {study.correlation_words}."
    table = markdown_table(heads, lines, words=3)
    return _with_rows(study, "### How general the policies are", said, table)


def _memory(study: StudyShown) -> list[str]:
    heads = [
        "method", "benchmark", "model", "seed", "steps", "retrieved", "examples shown",
        "evidence shown", "policy shown", "examples a step", "prompt versions", "never used",
    ]  # fmt: skip
    lines = [
        [
            *(one.method, one.benchmark, one.model, str(one.seed), str(one.steps)),
            *map(percent, (one.retrieved, one.examples, one.evidence, one.policy)),
            f"{one.mean_examples:.1f}",
            str(one.prompts or NOT_THERE),
            "never used" if one.is_unused else "",
        ]
        for one in study.uses
    ]
    said = (
        "Shares of steps. Retrieved: something was found, whether it was shown or cut for want of "
        f"space; demonstrations of few_shot count as examples. {NOT_CITED}"
    )
    table = markdown_table(heads, lines, words=3)
    return _with_rows(study, "### Was memory used?", said, table) if lines else []


def _published(sources: Sequence[SourceNumbers]) -> list[str]:
    if not sources:
        return []
    parts = [
        "### Published numbers, other models and the full streams",
        "None of these is a result of this project. Models, orders, numbers of rows and grading "
        "differ; they show where others stand.",
    ]
    for found in sources:
        note = f" {found.source.note}" if found.source.note else ""
        parts.append(f"**{found.source.title}**, {found.source.where}.{note}")
        parts += _published_lines(found)
        claims = [
            f"- {one.method} over {one.other} ({listing(list(one.benchmarks))}; {one.table}): "
            f"{one.says}. {one.remark}".rstrip()
            for one in found.claims
        ]
        parts += ["\n".join(claims)] if claims else []
    return parts


def _published_lines(found: SourceNumbers) -> list[str]:
    lines = [
        [
            *(one.method, one.model, one.table),
            *(f"{one.scores[b]:.2f}" if b in one.scores else "–" for b in found.benchmarks),
        ]
        for one in found.lines
    ]
    heads = ["method", "model", "where", *found.benchmarks]
    return [markdown_table(heads, lines, words=3)] if lines else []
