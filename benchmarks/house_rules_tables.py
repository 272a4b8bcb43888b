"""The tables of the `house_rules` results, and the verdict on the target."""

from __future__ import annotations

from collections.abc import Sequence

from house_rules_numbers import (
    DRPG,
    ICL,
    TARGET_CALLS,
    TARGET_FEEDBACK,
    TARGET_OVER_ICL,
    TARGET_OVER_ZERO_SHOT,
    ZERO_SHOT,
    Reach,
    RunNumbers,
    affordable,
    best_reach,
    meets,
    reach,
)

from learnloop.reports.comparisons import Comparison
from learnloop.reports.statistics import spread
from learnloop.reports.wording import (
    MINUS,
    count,
    duration,
    listing,
    p_value,
    per_unit,
    percent,
    plural,
    points,
    spread_points,
)


def verdict(rows: Sequence[RunNumbers], *, complete: bool) -> str:
    """Say whether the target is reached, and by how much."""
    goal = (
        f"The target, with feedback `{TARGET_FEEDBACK}`: over the second half of the stream the "
        f"best {DRPG} is at least {points(TARGET_OVER_ZERO_SHOT, signed=False)} points above "
        f"{ZERO_SHOT} and at least {points(TARGET_OVER_ICL, signed=False)} above {ICL}, at "
        f"{TARGET_CALLS} model calls a query or fewer."
    )
    best = best_reach(reach(rows))
    if best is None:
        return f"{goal} **Not decided: no {DRPG} run with that feedback is finished.**"
    so_far = "" if complete else " so far (runs are missing, see below)"
    word = "Reached" if best.reached else "Missed"
    seeds = plural(len(best.seeds), "seed")
    return (
        f"{goal} **{word}{so_far}: {best.method} was right on {percent(best.second_half)} there, "
        f"{_gain(best.over_zero_shot)} points against {ZERO_SHOT} and {_gain(best.over_icl)} "
        f"against {ICL}, at {best.calls:.3f} calls a query ({seeds}).**"
    )


def results_table(rows: Sequence[RunNumbers]) -> str:
    """Return the table of one feedback mode, or of several, one row a method."""
    head = (
        "method", "seeds", "right, whole stream", "right, second half", "calls a query",
        "tokens read", "from cache", "written", "seconds a step",
    )  # fmt: skip
    lines = [
        (
            method,
            listing([str(row.seed) for row in mine]),
            _mean_sd([row.accuracy for row in mine]),
            _mean_sd([row.second_half for row in mine]),
            _calls(mine),
            count(_mean([row.tokens_read for row in mine])),
            count(_mean([row.tokens_cached for row in mine])),
            count(_mean([row.tokens_out for row in mine])),
            duration(_mean([row.seconds for row in mine])),
        )
        for method, mine in by_method(rows).items()
    ]
    return table(head, lines)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, numbers to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def target_table(reaches: Sequence[Reach]) -> str:
    """Return how each DRPG stands to each part of the target."""
    lines = [
        (
            one.method,
            percent(one.second_half),
            _held(_gain(one.over_zero_shot), meets(one.over_zero_shot, TARGET_OVER_ZERO_SHOT)),
            _held(_gain(one.over_icl), meets(one.over_icl, TARGET_OVER_ICL)),
            _held(f"{one.calls:.3f}", affordable(one.calls)),
            "reached" if one.reached else "missed",
        )
        for one in reaches
    ]
    head = (
        "method",
        "right, second half",
        f"over {ZERO_SHOT} (≥ {points(TARGET_OVER_ZERO_SHOT)})",
        f"over {ICL} (≥ {points(TARGET_OVER_ICL)})",
        f"calls a query (≤ {TARGET_CALLS})",
        "target",
    )
    return table(head, lines)


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """Return the paired differences to one baseline."""
    lines = [
        (
            one.method,
            f"`{one.feedback}`",
            points(one.gain),
            f"{points(one.low)} to {points(one.high)}" if one.interval else "–",
            f"{one.discordance.gained} / {one.discordance.lost}" if one.discordance else "–",
            p_value(one.discordance.p_value) if one.discordance else "–",
            f"{one.pairs} ({plural(one.seeds, 'seed')})",
        )
        for one in comparisons
    ]
    head = ("method", "feedback", "points", "95 % interval", "turned right / wrong", "p", "pairs")
    return table(head, lines)


def by_method(rows: Sequence[RunNumbers]) -> dict[str, list[RunNumbers]]:
    """Return the runs by method, each by seed."""
    methods = dict.fromkeys(row.method for row in rows)
    mine = {method: [row for row in rows if row.method == method] for method in methods}
    return {method: sorted(found, key=lambda row: row.seed) for method, found in mine.items()}


def _calls(rows: Sequence[RunNumbers]) -> str:
    roles = sorted({role for row in rows for role in row.calls})
    each = [f"{role} {per_unit(_mean([r.calls.get(role, 0.0) for r in rows]))}" for role in roles]
    total = per_unit(_mean([row.calls_a_query for row in rows]))
    return f"{total} ({', '.join(each)})" if len(each) > 1 else total


def _mean(values: Sequence[float]) -> float:
    return spread(values).mean


def _mean_sd(values: Sequence[float | None]) -> str:
    there = [value for value in values if value is not None]
    if not there:
        return "–"
    found = spread(there)
    return f"{percent(found.mean)} {spread_points(found.sd)}".strip()


def _gain(value: float | None) -> str:
    """Return a difference in points with one decimal, so that a near miss does not look met."""
    return "–" if value is None else f"{100 * value:+.1f}".replace("-", MINUS)


def _held(text: str, met: bool) -> str:
    return f"{text} {'✓' if met else '✗'}"
