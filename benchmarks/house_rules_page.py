"""Puts the numbers of the `house_rules` study in words: `results/house_rules.md`, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from house_rules_numbers import ICL, TARGET_FEEDBACK, ZERO_SHOT, RunNumbers, reach
from house_rules_policies import (
    LearntRule,
    PolicyNumbers,
    Twin,
    learnt,
    listed,
    negative,
    writers,
)
from house_rules_tables import by_method, comparison_table, results_table, target_table, verdict

from learnloop.methods import METHODS
from learnloop.records.schema import RunInfo
from learnloop.reports.comparisons import FEW_SEEDS, Comparison
from learnloop.reports.curves import window_for
from learnloop.reports.wording import listing, plural

MEANING = {
    "binary": "right or wrong, nothing else",
    "comment": "right or wrong, and a user's comment on a wrong answer that breaks a convention",
    "comment,correction=0.5": "right or wrong, a user's comment on a wrong answer that breaks "
    "a convention, and the right SQL for half of the wrong answers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that the page says, and `example`: the rules at the end of the run `example_of`."""

    infos: Sequence[RunInfo]
    rows: Sequence[RunNumbers]
    unfinished: Sequence[RunNumbers]
    missing: Sequence[str]
    over_zero_shot: Sequence[Comparison]
    over_icl: Sequence[Comparison]
    policies: Sequence[PolicyNumbers]
    twins: Sequence[Twin]
    example: Sequence[LearntRule]
    example_of: str

    @property
    def lacking(self) -> list[str]:
        """The runs whose numbers are not here, and how far they are."""
        begun = [f"{row.run_id} ({row.steps} of {row.planned} steps)" for row in self.unfinished]
        return [*begun, *self.missing]


def page(found: Findings) -> str:
    """Return the whole page."""
    parts = [
        "# House rules: what each kind of feedback is worth to each method",
        verdict(found.rows, complete=not found.lacking),
        _figure(found),
        _measured(found),
        _again(),
        _accuracy(found.rows),
        _target(found.rows),
        _differences(found),
        _policies(found),
        _negative(found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _figure(found: Findings) -> str:
    length = max((row.planned for row in found.rows), default=0)
    if not length:
        return ""
    return (
        "![Learning curves](house_rules/curves.png)\n\n"
        f"Feedback `{TARGET_FEEDBACK}`: the share of right answers over the last "
        f"{window_for(length)} steps, mean over the seeds, one standard deviation either way."
    )


def _measured(found: Findings) -> str:
    infos, rows = found.infos, [*found.rows, *found.unfinished]
    steps = listing(sorted({str(row.planned) for row in rows}))
    seeds = listing([str(seed) for seed in sorted({row.seed for row in rows})])
    databases = listing(_distinct(str(r.spec["environment_params"].get("database")) for r in rows))
    modes = [f"`{mode}` ({MEANING.get(mode, '')})" for mode in _distinct(r.feedback for r in rows)]
    lines = [
        f"- Stream: {listing(_distinct(info.environment_id for info in infos))}, database "
        f"{databases}, {steps} steps, seeds {seeds}. The seed decides the order of the questions, "
        "the user's words and which corrections arrive; all methods get the same.",
        "- Seed 0 and the shop's own comments were used while the prompt that words rules, the "
        "merging and the selection of rules were being developed; no other seed was. So the "
        "conventions were not unseen by the developers, the order and the words of these streams "
        "were.",
        f"- Model: {listing(_distinct(info.model for info in infos))}, sha256 "
        f"{listing(_distinct(str(info.model_sha256) for info in infos))}; it answers and writes "
        "the policies.",
        f"- Right examples shown: {_k(rows)}.",
        f"- Feedback: {'; '.join(modes)}.",
        f"- Packages: {_versions(info.packages for info in infos)}.",
        f"- Machine: {_versions(info.machine for info in infos)}. It was shared with other work "
        "while the study ran: seconds are upper bounds, and only ratios within a run mean much.",
        f"- {_state(found)}",
    ]
    return "## What was measured\n\n" + "\n".join(lines)


def _state(found: Findings) -> str:
    whole = plural(len(found.rows), "finished run")
    failed = sum(row.failed for row in found.rows)
    replayed = sum(row.replayed for row in found.rows)
    said = f"{whole}; {plural(failed, 'step')} failed (a failed step counts as wrong)."
    if replayed:
        said += f" {plural(replayed, 'reply', 'replies')} came from the response cache."
    if not found.lacking:
        return f"{said} No run of the study is missing."
    lacking = "\n".join(f"  - {one}" for one in found.lacking)
    return f"{said} Not finished, and in no number below:\n{lacking}"


def _again() -> str:
    return (
        "## How to make it again\n\n```sh\nlearnloop study studies/house_rules.toml\n"
        "python benchmarks/house_rules.py\n```\n\n"
        "The second command computed every number on this page; [runs.json](house_rules/runs.json) "
        "has them run by run."
    )


def _accuracy(rows: Sequence[RunNumbers]) -> str:
    parts = [
        f"### Feedback `{mode}`\n\n{results_table([row for row in rows if row.feedback == mode])}"
        for mode in _distinct(row.feedback for row in rows)
    ]
    intro = "Mean ± standard deviation over the seeds, in points; calls and tokens are a query's."
    return "\n\n".join(["## Accuracy and cost", intro, *parts]) if parts else ""


def _target(rows: Sequence[RunNumbers]) -> str:
    reaches = reach(rows)
    return f"## The target\n\n{target_table(reaches)}" if reaches else ""


def _differences(found: Findings) -> str:
    parts = [
        f"### Against {name}\n\n{comparison_table(comparisons)}"
        for name, comparisons in ((ZERO_SHOT, found.over_zero_shot), (ICL, found.over_icl))
        if comparisons
    ]
    intro = (
        "Second half of the stream, the same query at the same step and seed. Intervals: 95 % "
        "bootstrap over the pairs. p: exact McNemar test, adjusted (Holm) for the rows of its "
        f"table. A feedback mode with fewer than {FEW_SEEDS} seeds may look otherwise on others."
    )
    return "\n\n".join(["## Paired differences", intro, *parts]) if parts else ""


def _policies(found: Findings) -> str:
    if not found.policies:
        return ""
    parts = [
        f"## The policy writers alone\n\n{writers(found.policies)}",
        f"## What was learnt\n\n{learnt(found.policies)}",
    ]
    if found.example:
        parts.append(f"The rules at the end of `{found.example_of}`:\n\n{listed(found.example)}")
    return "\n\n".join(parts)


def _negative(found: Findings) -> str:
    said = negative(found.over_icl, reach(found.rows), found.policies, found.twins)
    return f"## What did not work\n\n{said}" if said else ""


def _k(rows: Sequence[RunNumbers]) -> str:
    words = []
    for method, mine in by_method(rows).items():
        settings = METHODS.load(mine[0].name).Settings(**mine[0].spec["method_params"])
        k = getattr(settings, "k", 0)
        words.append(f"at most {k} to {method}" if k else f"none to {method}")
    return listing(words)


def _versions(found: Iterable[Mapping[str, str]]) -> str:
    """Return names with their values; where runs differ, each value that a name had."""
    values: dict[str, dict[str, None]] = {}
    for one in found:
        for name, value in one.items():
            values.setdefault(name, {})[value] = None
    return ", ".join(f"{name} {' / '.join(had)}" for name, had in values.items())


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
