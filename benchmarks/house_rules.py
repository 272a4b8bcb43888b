"""Reads the records of the `house_rules` study and writes its results: a page, curves, numbers.

The study is `studies/house_rules.toml`. A study that is not finished is read as far as it is: runs
that came to their end are counted, the others are named.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from house_rules_numbers import (
    DRPG,
    TARGET_FEEDBACK,
    ZERO_SHOT,
    RunNumbers,
    best_reach,
    compare_with_both,
    numbers_of,
    reach,
    section_of,
)
from house_rules_page import Findings, page
from house_rules_policies import final_rules, policy_numbers, twins
from house_rules_tables import results_table, verdict
from pydantic import TypeAdapter

from learnloop.errors import LearnloopError
from learnloop.reports.charts import curve_chart, to_png, to_spec
from learnloop.reports.curves import rolling_curves, window_for
from learnloop.reports.groups import Section
from learnloop.reports.load import Run, load_runs
from learnloop.reports.themes import LIGHT, strokes
from learnloop.runner.study import expand, read_study

COMPARED = (
    "zero_shot, self_stream_icl and drpg with both policy writers are compared with each other on "
    "the same house_rules streams, and the best drpg with its target."
)
ROOT = Path(__file__).resolve().parent.parent
STUDY = ROOT / "studies" / "house_rules.toml"
RESULTS = ROOT / "results"
NUMBERS = Path("house_rules") / "runs.json"
CURVES = Path("house_rules") / "curves.png"
ROWS = TypeAdapter(list[RunNumbers])


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The runs of the study on record, and the ids of those that are not."""

    finished: Sequence[Run]
    unfinished: Sequence[Run]
    missing: Sequence[str]


def main() -> int:
    """Read, write and print."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    try:
        return report(options)
    except LearnloopError as error:
        print(f"house_rules: {error}", file=sys.stderr)
        return 2


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "house_rules")
    parser.add_argument("--out", type=Path, default=RESULTS, help="for house_rules.md and figures")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="finished runs only, no bootstrap, nothing written; reads the results at hand where "
        "there are no runs",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args()


def report(options: argparse.Namespace) -> int:
    """Do what the options ask."""
    if options.quick and not options.runs.is_dir() and (options.out / NUMBERS).is_file():
        rows = ROWS.validate_json((options.out / NUMBERS).read_bytes())
        rows = [row for row in rows if row.complete]
        missing = sorted(planned_ids() - {row.run_id for row in rows})
    else:
        records = read_records(options.runs)
        rows = [numbers_of(run) for run in records.finished]
        missing = [*(run.info.run_id for run in records.unfinished), *records.missing]
        if not options.quick:
            write(records, options.out)
    print(as_json(rows, missing) if options.json else as_text(rows, missing))
    return 0


def planned_ids() -> set[str]:
    """Return the ids of all runs of the study."""
    return {spec.run_id for spec in expand(read_study(STUDY))}


def read_records(folder: Path) -> Records:
    """Read the runs of the study in a folder, in the study's order; other runs are left out."""
    specs = expand(read_study(STUDY))
    there = {run.info.spec_hash: run for run in load_runs([folder])}
    runs = [there[spec.hash] for spec in specs if spec.hash in there]
    return Records(
        finished=[run for run in runs if run.info.complete],
        unfinished=[run for run in runs if not run.info.complete],
        missing=[spec.run_id for spec in specs if spec.hash not in there],
    )


def write(records: Records, out: Path) -> None:
    """Write the page, the curves and the numbers of every run."""
    (out / CURVES).parent.mkdir(parents=True, exist_ok=True)
    (out / "house_rules.md").write_text(page(findings(records)), encoding="utf-8")
    rows = [numbers_of(run) for run in (*records.finished, *records.unfinished)]
    lines = [ROWS.dump_json([row]).decode()[1:-1] for row in rows]
    (out / NUMBERS).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    if any(run.feedback == TARGET_FEEDBACK for run in records.finished):
        (out / CURVES).write_bytes(draw_curves(section_of(records.finished)))


def findings(records: Records) -> Findings:
    """Work out all that the page says."""
    section = section_of(records.finished) if records.finished else None
    over_zero_shot, over_icl = compare_with_both(section) if section else ([], [])
    example = next((run for run in records.finished if writes_rules(run)), None)
    return Findings(
        infos=[run.info for run in (*records.finished, *records.unfinished)],
        rows=[numbers_of(run) for run in records.finished],
        unfinished=[numbers_of(run) for run in records.unfinished],
        missing=records.missing,
        over_zero_shot=over_zero_shot,
        over_icl=over_icl,
        policies=policy_numbers(section) if section else [],
        twins=twins(section) if section else [],
        example=final_rules(example) if example else [],
        example_of=example.info.run_id if example else "",
    )


def writes_rules(run: Run) -> bool:
    """Whether a run is one of the rules writer under the target's feedback."""
    params: Any = run.info.spec.get("method_params") or {}
    is_rules = run.info.method == DRPG and params.get("writer", "rules") == "rules"
    return is_rules and run.feedback == TARGET_FEEDBACK


def draw_curves(section: Section) -> bytes:
    """Return the learning curves under the target's feedback as PNG."""
    length = section.length(TARGET_FEEDBACK)
    best = best_reach(reach([numbers_of(run) for run in section.runs]))
    baselines = frozenset(group.label for group in section.groups if group.method == ZERO_SHOT)
    drawn = strokes(section.labels, baselines=baselines, leading=best.method if best else None)
    points = rolling_curves(section, TARGET_FEEDBACK, window=window_for(length))
    chart = curve_chart(points, strokes=drawn, theme=LIGHT, length=length)
    return to_png(to_spec(chart, theme=LIGHT, width=860, height=340), theme=LIGHT)


def as_text(rows: Sequence[RunNumbers], missing: Sequence[str]) -> str:
    """Return the tables and the verdict for a terminal."""
    modes = dict.fromkeys(row.feedback for row in rows)
    parts = [f"{one}\n{results_table([r for r in rows if r.feedback == one])}" for one in modes]
    lacking = "\n".join(["not finished:", *missing]) if missing else "every run is finished"
    return "\n\n".join([*parts, verdict(rows, complete=not missing), lacking])


def as_json(rows: Sequence[RunNumbers], missing: Sequence[str]) -> str:
    """Return the numbers of the runs and the target as one JSON object."""
    best = best_reach(reach(rows))
    target = asdict(best) | {"reached": best.reached} if best else None
    return json.dumps(
        {"runs": ROWS.dump_python(list(rows)), "target": target, "missing": list(missing)}
    )


if __name__ == "__main__":
    sys.exit(main())
