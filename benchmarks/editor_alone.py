"""Measures an editor alone: is its new prompt right, by what the buffer of evidence is made of?

A buffer is cut from a stream of the task where the hidden rule or number changes: some stale
observations from before, and some new ones since, of which some are corrupted. The prompt that the
editor is handed is what the reference editor `majority` makes of clean observations before the
change. No gate takes part. Streams begin at seed 1000, where no study is made.

Right is, on `parity`, a prompt that states the rule that holds now; on `guess`, a belief that
contains the number and is no wider than a class of distance; on `track`, where nothing changes
abruptly, a value at most half a class off. Where no observation is new, the old state holds.

`--out` takes one JSON object: `model`, `seeds` (first and count), `rows` (one for each task, editor
and buffer: `stale`, `new`, `corrupted`, `cases`, `right`, `error`, `width`, `invalid`), `by_noise`
(`right` by `task`, `editor`, `new` and `noise`, from new observations alone) and `cost` (means a
call, by task: `calls`, `tokens_in`, `tokens_cached`, `tokens_out`, `seconds`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from editor_alone_buffers import TASKS, Buffer, Composition, cut, default_compositions
from editor_alone_numbers import Row, as_text, by_noise, judge, row_of

from learnloop.editing import EDITORS
from learnloop.editing.parts import EditorParts
from learnloop.errors import InputError, LearnloopError
from learnloop.llm.cached import Cached
from learnloop.llm.metered import Ledger, Metered
from learnloop.llm.opening import open_model
from learnloop.llm.scripted import scripted
from learnloop.protocols import Editor, LanguageModel
from learnloop.settings import read_settings
from learnloop.types import Call, Decision, Edit, Episode, Event, Usage

COMPARED = (
    "An editor's new prompts are compared with what holds, by buffer of evidence, beside those of "
    "the reference editors majority and obedient."
)
FIRST_SEED = 1000
REFERENCES = ("majority", "obedient")


def main() -> int:
    """Measure, write and print."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    try:
        found = report(options)
    except LearnloopError as error:
        print(f"editor_alone: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found) if options.json else as_text([Row(**row) for row in found["rows"]]))
    if not options.json:
        print(json.dumps(found["cost"]))
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--task", action="append", choices=list(TASKS), help="all, if none")
    parser.add_argument("--editor", default="rewriter", help="the editor that is measured")
    parser.add_argument("--model", default="local")
    parser.add_argument("--cases", type=int, default=8, help="buffers a composition")
    parser.add_argument(
        "--buffer",
        action="append",
        type=read_composition,
        metavar="STALE,NEW,CORRUPTED",
        help="one composition, such as 0,5,1; may be given again; a full table, if none",
    )
    parser.add_argument("--quick", action="store_true", help="reference editors alone, no model")
    parser.add_argument("--cache", type=Path, help="file of replies; what is in it is not asked")
    parser.add_argument("--out", type=Path, help="file for the results as JSON")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args()


def read_composition(text: str) -> Composition:
    """Read `STALE,NEW,CORRUPTED`."""
    stale, new, corrupted = (int(part) for part in text.split(","))
    return Composition(stale=stale, new=new, corrupted=corrupted)


def report(options: argparse.Namespace) -> dict[str, object]:
    """Do what the options ask, and return all that was found."""
    ledger = Ledger()
    model = None if options.quick else open_model(options.model, settings=read_settings())
    asked = None if model is None else Metered(Cached(model, options.cache), ledger)
    rows: list[Row] = []
    cost: dict[str, object] = {}
    for task in options.task or list(TASKS):
        mark = len(ledger)
        rows += measure(task, options, asked)
        cost[task] = cost_of(ledger.since(mark))
    found = {
        "model": None if asked is None else asked.name,
        "seeds": [FIRST_SEED, options.cases],
        "rows": [asdict(row) for row in rows],
        "by_noise": by_noise(rows),
        "cost": cost,
    }
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def measure(task: str, options: argparse.Namespace, model: LanguageModel | None) -> list[Row]:
    """Return the rows of one task: every composition, every editor."""
    names = [*REFERENCES, *([options.editor] if model is not None else [])]
    editors = {name: make_editor(name, task, model) for name in names}
    rows = []
    compositions = options.buffer or default_compositions()
    for done, composition in enumerate(compositions, start=1):
        seeds = range(FIRST_SEED, FIRST_SEED + options.cases)
        buffers = [cut(task, composition, seed=seed) for seed in seeds]
        for name, editor in editors.items():
            judged = [judge(task, each, edited(editor, each)) for each in buffers]
            rows.append(row_of(task, name, composition, judged))
        print(f"{task}: {done} of {len(compositions)} compositions", file=sys.stderr)
    return rows


def make_editor(name: str, task: str, model: LanguageModel | None) -> Editor:
    """Put an editor together for a task. The reference editors need no model."""
    parts = EditorParts(
        task=TASKS[task]().task,
        model=model or scripted("static"),
        evaluate=no_candidates,
        journal=Unheard(),
    )
    made: Editor = EDITORS.load(name).from_parts(parts)
    return made


def edited(editor: Editor, buffer: Buffer) -> Edit:
    """Call an editor on a buffer."""
    return editor.edit(buffer.prompt, buffer.evidence)


def no_candidates(text: str, episode: Episode) -> float:
    """Refuse to judge candidates: only editors that make one proposal are measured here."""
    raise InputError("only editors that make one proposal can be measured alone")


class Unheard:
    """A journal of which nothing is kept."""

    def record(self, event: Event) -> None:
        pass

    def decided(self, error: float, decision: Decision) -> None:
        pass


def cost_of(calls: Sequence[Call]) -> dict[str, float]:
    """Return how many calls were made and their means; a call read from the cache counts too."""
    used = [call.usage for call in calls] or [Usage()]
    return {
        "calls": len(calls),
        "tokens_in": round(fmean(usage.tokens_in for usage in used), 1),
        "tokens_cached": round(fmean(usage.tokens_cached for usage in used), 1),
        "tokens_out": round(fmean(usage.tokens_out for usage in used), 1),
        "seconds": round(fmean(usage.seconds for usage in used), 2),
    }


if __name__ == "__main__":
    sys.exit(main())
