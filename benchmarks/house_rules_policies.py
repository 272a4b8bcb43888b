"""What the policy writers of the study did: measured alone, and put in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from house_rules_numbers import DRPG, ICL, TARGET_CALLS, Reach, affordable
from house_rules_tables import table

from learnloop.environments.house_rules.data import load_database
from learnloop.environments.house_rules.environment import HouseRules
from learnloop.errors import DataError
from learnloop.records.schema import StepRecord
from learnloop.reports.comparisons import Comparison
from learnloop.reports.groups import Group, Section
from learnloop.reports.load import Run
from learnloop.reports.wording import listing, percent, plural, points

BIN = 10

EVENTS = {
    "rule_added": "added",
    "rule_merged": "merged",
    "rule_reworded": "reworded",
    "rule_refused": "wording refused",
    "policy_refused": "policies refused",
    "bullets_refused": "policies cut",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """How often the answers were right, by whether the policy stated all that a query needs."""

    stated: int
    right_stated: float | None
    unstated: int
    right_unstated: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyNumbers:
    """One policy writer alone: the share of needed conventions stated, by bins of ten steps."""

    method: str
    feedback: str
    runs: int
    shares: tuple[float | None, ...]
    known: Known
    events: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntRule:
    """One rule as it stood at the end of a run, and the conventions that it states."""

    text: str
    complaints: int
    conventions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """How many answers a DRPG run had in common with the self_stream_icl run of its seed."""

    method: str
    feedback: str
    seed: int
    same: int
    steps: int


def policy_numbers(section: Section) -> list[PolicyNumbers]:
    """Measure every policy writer alone."""
    return [_policy(group) for group in section.groups if group.method == DRPG]


def _policy(group: Group) -> PolicyNumbers:
    lines = [stated_shares(run) for run in group.runs]
    return PolicyNumbers(
        method=group.label,
        feedback=group.feedback,
        runs=len(group.runs),
        shares=_by_bin(lines),
        known=_known(lines, [run.scores for run in group.runs]),
        events=Counter(e.kind for run in group.runs for s in run.steps for e in s.events),
    )


def stated_shares(run: Run) -> list[float | None]:
    """Return, for each step, the share of the needed conventions that its policy states.

    A step without a policy states none; `None` stands where a query needs none.
    """
    environment = _environment_of(run)
    return [_share(environment, record) for record in run.steps]


def _environment_of(run: Run) -> HouseRules:
    params: Any = run.info.spec.get("environment_params") or {}
    environment = HouseRules(**params)
    if environment.id != run.info.environment_id:
        raise DataError(
            f"run {run.info.run_id!r} is on {run.info.environment_id!r}, this package has "
            f"{environment.id!r}; make the runs again, or read them with the version that made them"
        )
    environment.reset(seed=run.seed)
    return environment


def _share(environment: HouseRules, record: StepRecord) -> float | None:
    if not record.tags:
        return None
    bullets = [bullet.text for bullet in record.policy.bullets] if record.policy else []
    return len(environment.stated(bullets, record.query_id)) / len(record.tags)


def _by_bin(lines: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    length = max((len(line) for line in lines), default=0)
    return tuple(
        _mean([share for line in lines for share in line[start : start + BIN]])
        for start in range(0, length, BIN)
    )


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def _known(lines: Sequence[Sequence[float | None]], scores: Sequence[Sequence[float]]) -> Known:
    runs = zip(lines, scores, strict=True)
    pairs = [pair for line, one in runs for pair in zip(line, one, strict=True)]
    stated = [score for share, score in pairs if share == 1]
    unstated = [score for share, score in pairs if share is not None and share < 1]
    return Known(
        stated=len(stated),
        right_stated=_mean(stated),
        unstated=len(unstated),
        right_unstated=_mean(unstated),
    )


def final_rules(run: Run) -> list[LearntRule]:
    """Follow a run's events and return the rules at its end, oldest first."""
    texts: list[str] = []
    complaints: list[int] = []
    for event in (event for record in run.steps for event in record.events):
        if event.kind == "rule_added":
            texts.append(event.text)
            complaints.append(1)
        elif event.kind in ("rule_merged", "rule_reworded"):
            place = next(n for n, text in enumerate(texts) if event.text.startswith(f"{text} <- "))
            complaints[place] += 1
            if event.kind == "rule_reworded":
                texts[place] = event.text.removeprefix(f"{texts[place]} <- ")
    params: Any = run.info.spec.get("environment_params") or {}
    known = load_database(params["database"]).conventions if params.get("database") else ()
    return [
        LearntRule(
            text=text,
            complaints=count,
            conventions=tuple(one.id for one in known if one.is_stated_in(text)),
        )
        for text, count in zip(texts, complaints, strict=True)
    ]


def same_answers(one: Run, other: Run) -> int:
    """Count the steps at which two runs gave the same answer to the same query."""
    pairs = zip(one.steps, other.steps, strict=False)
    return sum((a.query_id, a.answer) == (b.query_id, b.answer) for a, b in pairs)


def twins(section: Section) -> list[Twin]:
    """Compare the answers of every DRPG run with those of self_stream_icl on the same stream."""
    plain = {(r.feedback, r.seed): r for r in section.runs if r.info.method == ICL}
    return [
        Twin(
            method=group.label,
            feedback=group.feedback,
            seed=run.seed,
            same=same_answers(run, plain[group.feedback, run.seed]),
            steps=len(run.steps),
        )
        for group in section.groups
        for run in group.runs
        if group.method == DRPG and (group.feedback, run.seed) in plain
    ]


def writers(policies: Sequence[PolicyNumbers]) -> str:
    """Say what share of the needed conventions each writer stated, and what came of it."""
    spans = [f"{BIN * n + 1}–{BIN * (n + 1)}" for n in range(max(len(p.shares) for p in policies))]
    shares = [
        (_named(one), str(one.runs), *(percent(share) for share in one.shares)) for one in policies
    ]
    known = [
        (
            _named(one),
            f"{percent(one.known.right_stated)} of {one.known.stated}",
            f"{percent(one.known.right_unstated)} of {one.known.unstated}",
        )
        for one in policies
    ]
    return (
        "The share of the conventions needed by a query that the policy shown with it states "
        "completely, values included, by step; a step without a policy states none, queries that "
        f"need none are left out.\n\n{table(('writer', 'runs', *spans), shares)}\n\n"
        "And what the answering model made of it: right answers among the queries whose policy "
        "stated all, or not all, that they need.\n\n"
        f"{table(('writer', 'right, all stated', 'right, not all stated'), known)}"
    )


def learnt(policies: Sequence[PolicyNumbers]) -> str:
    """Say how often rules were added, merged, reworded and refused."""
    lines = [
        (_named(one), str(one.runs), *(str(one.events.get(kind, 0)) for kind in EVENTS))
        for one in policies
    ]
    return (
        "Rules and policies, all runs of a writer together. Where the model's wording of a rule is "
        "refused, the user's own words become the rule.\n\n"
        f"{table(('writer', 'runs', *EVENTS.values()), lines)}\n\n"
        f"{REFUSED_POLICIES}"
    )


def listed(rules: Sequence[LearntRule]) -> str:
    """Return rules as a numbered list, and how many of them say what an earlier one says."""
    lines = "\n".join(
        f"{place}. {rule.text} *({plural(rule.complaints, 'complaint')}; states "
        f"{listing(list(rule.conventions)) if rule.conventions else 'no convention'})*"
        for place, rule in enumerate(rules, start=1)
    )
    again = repeated(rules)
    return f"{lines}\n\nOf these {len(rules)}, {again} state only what an earlier one states."


def repeated(rules: Sequence[LearntRule]) -> int:
    """Count the rules that state some convention, and none that no earlier rule states."""
    known: set[str] = set()
    count = 0
    for rule in rules:
        count += bool(rule.conventions) and known.issuperset(rule.conventions)
        known |= set(rule.conventions)
    return count


def negative(
    over_icl: Sequence[Comparison],
    reaches: Sequence[Reach],
    policies: Sequence[PolicyNumbers],
    pairs: Sequence[Twin],
) -> str:
    """Say what did not work, as far as the numbers show it; `""` where all did."""
    lines = [_not_better(one) for one in over_icl if not (one.is_significant and one.gain > 0)]
    lines += [
        f"- {one.method} takes {one.calls:.3f} calls a query, more than {TARGET_CALLS}."
        for one in reaches
        if not affordable(one.calls)
    ]
    lines += [_unheard(one, pairs) for one in policies if not any(one.shares)]
    return "\n".join(lines)


def _named(one: PolicyNumbers) -> str:
    return f"{one.method}, `{one.feedback}`"


def _not_better(one: Comparison) -> str:
    word = "is worse than" if one.is_significant else "is not clearly better than"
    interval = f" (interval {points(one.low)} to {points(one.high)})" if one.interval else ""
    return (
        f"- With `{one.feedback}`, {one.method} {word} {one.baseline}: {points(one.gain)} points"
        f"{interval}, {plural(one.seeds, 'seed')}."
    )


def _unheard(one: PolicyNumbers, pairs: Sequence[Twin]) -> str:
    mine = [t for t in pairs if (t.method, t.feedback) == (one.method, one.feedback)]
    same, steps = sum(twin.same for twin in mine), sum(twin.steps for twin in mine)
    rules = one.events.get("rule_added", 0)
    alike = f" {same} of its {steps} answers are those of {ICL} to the letter." if mine else ""
    return (
        f"- With `{one.feedback}`, the policies of {one.method} stated no needed convention at any "
        f"step ({plural(rules, 'rule')} learnt).{alike}"
    )


REFUSED_POLICIES = (
    "A policy of the contrastive writer is refused where it is no list of bullets; this model "
    "often writes a sentence of prose after `POLICY:` instead, and the policy before stays in "
    "force. The published code would use that sentence (`policy_form=text`, a part of "
    "`variant=published`); one run of that, which did no better, is in "
    "[policy_form.md](policy_form.md). The contrastive rows are about a 1.5B model, not about "
    "the models of the paper."
)
