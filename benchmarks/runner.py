"""How many steps a second a run makes when the model costs nothing: all the rest of the loop.

DRPG with the paper's policy writer (two calls a step, three searches of memory) over a stream of
Spider, with a model that answers at once: right SQL for two queries of three, the SQL of another
question for the third. Everything that a run does is in it: prompts, response cache, memory on
disk, grading by execution, records of which each step is put on the disk.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner_stream import open_stream

from learnloop.environments.dataset import Dataset
from learnloop.llm.metered import Ledger
from learnloop.llm.scripted import Scripted
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import Prepared
from learnloop.runner.conduct import conduct
from learnloop.runner.spec import make_spec
from learnloop.types import Message, Options

TARGETS = {1_000: 200.0, 10_000: 100.0}
COMPARED = (
    "Steps a second of a run over Spider with a model that answers in 0 ms; wanted are 200 over "
    "1,000 steps and 100 over 10,000, on two cores."
)
POLICY = "POLICY:\n- Name the columns that are asked for.\n- Count with count(*)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Steps a second over a whole run, and over its last tenth, when memory is nearly full."""

    whole: float
    end: float
    accuracy: float


def main() -> None:
    """Measure and print."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    sizes = [int(size) for size in options.sizes.split(",")]
    found = {size: measure(size, ours=options.own_rows) for size in sizes}
    if options.json:
        print(json.dumps(as_json(found)))
        return
    for size, speed in found.items():
        wanted = f", wanted {TARGETS[size]:.0f} or more" if size in TARGETS else ""
        print(
            f"{size:>7,} steps: {speed.whole:5.0f} steps/s{wanted}; "
            f"{speed.end:.0f} over the last tenth; {speed.accuracy:.0%} right"
        )
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load average {load:.1f}")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--sizes", default="1000,10000", help="steps of each run")
    parser.add_argument("--own-rows", action="store_true", help="do without Spider's rows")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args()


def as_json(found: dict[int, Speed]) -> dict[str, object]:
    """Return the speeds by size."""
    return {
        "steps_per_second": {str(size): round(speed.whole, 1) for size, speed in found.items()},
        "steps_per_second_at_the_end": {
            str(size): round(speed.end, 1) for size, speed in found.items()
        },
        "load_average": round(os.getloadavg()[0], 1),
    }


def measure(steps: int, *, ours: bool) -> Speed:
    """Make one run of so many steps into a temporary directory."""
    with (
        tempfile.TemporaryDirectory() as place,
        open_stream(steps, ours=ours, folder=Path(place)) as environment,
    ):
        prepared = prepare(environment, steps)
        spending = Spending(Budget(), clock=time.perf_counter)
        marks, right = [time.perf_counter()], 0.0
        for outcome in conduct(prepared, directory=Path(place) / "run", spending=spending):
            marks.append(time.perf_counter())
            right += outcome.record.score
        return Speed(
            whole=steps / (marks[-1] - marks[0]),
            end=(steps // 10) / (marks[-1] - marks[-1 - steps // 10]),
            accuracy=right / steps,
        )


def prepare(environment: Dataset, steps: int) -> Prepared:
    """Put together what a run needs, as the command line does."""
    model = Scripted(Script(environment), name="scripted/sql")
    return Prepared(
        spec=make_spec(
            environment="spider",
            method="drpg",
            method_params={"writer": "contrastive"},
            model=model.name,
            feedback="binary,comment",
        ),
        environment=environment,
        embedder=WordLlamaEmbedder(),
        model=model,
        policy_model=model,
        ledger=Ledger(),
        length=steps,
    )


class Script:
    """Finds the question in the last message; says the SQL of another one to every third."""

    def __init__(self, environment: Dataset) -> None:
        queries = environment.queries
        self.sql = {query.text: environment.gold(query) for query in queries}
        others: dict[str, list[str]] = {}
        for query in queries:
            others.setdefault(query.group, []).append(environment.gold(query))
        self.wrong = {query.text: others[query.group] for query in queries}

    def __call__(self, messages: Sequence[Message], options: Options) -> str:
        if options.role != "answer":
            return POLICY
        text = messages[-1].content.rpartition("Question: ")[2].partition("\nSQL:")[0]
        number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
        if number % 3:
            return self.sql[text]
        return self.wrong[text][number % len(self.wrong[text])]


if __name__ == "__main__":
    main()
