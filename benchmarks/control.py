"""How many steps a second the closed loop makes without a model, for each gate.

A step is one of `gated_prompt` on `parity`, made by the runner's own loop: query, prediction,
feedback with a tenth of it wrong, sensor, comparator, gate, and now and then the editor
`obedient`. What is put together before the first step is left out there, and counted in the whole
run, which ends with its summary. Seconds are those of one core, whatever else it does meanwhile.
The times of the gates are also given as a multiple of that of `never`, taken turn by turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Sequence

from learnloop.control import GATES
from learnloop.runner.building import prepare
from learnloop.runner.in_memory import InMemory
from learnloop.runner.spec import RunSpec, make_spec
from learnloop.settings import read_settings

TARGET = 20_000
DEFAULT = "bayes"
BASE = "never"
COMPARED = f"Steps a second of the loop without a model, wanted {TARGET:,} or more with {DEFAULT}."


def main() -> None:
    """Measure and print."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    found = measure(sorted(GATES), runs=5 if options.quick else 40)
    if options.json:
        print(json.dumps(found))
        return
    for name, numbers in found["gates"].items():
        print(f"{name:>15}: {numbers['steps_per_second']:>7,} steps a second, ", end="")
        print(f"{numbers['times_never']:.2f} times the time of {BASE}")
    print(f"the loop with {DEFAULT}: {found['steps_per_second']:,} steps a second")
    print(f"whole runs with {DEFAULT}: {found['whole_run_steps_per_second']:,} steps a second")
    print(f"{platform.machine()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--quick", action="store_true", help="fewer runs, a few seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args()


def measure(gates: Sequence[str], *, runs: int) -> dict:
    """Return the medians over some runs of every gate, taken turn by turn."""
    maker = InMemory(settings=read_settings(), clock=time.perf_counter)
    seconds = {gate: [] for gate in gates}
    whole = []
    for seed in range(runs + 1):
        for gate in gates:
            seconds[gate].append(step_seconds(maker, spec_of(gate, seed=seed)))
        began = time.process_time()
        summary = maker.summarise(spec_of(DEFAULT, seed=seed))
        whole.append((time.process_time() - began) / summary.steps)
    medians = {gate: statistics.median(times[1:]) for gate, times in seconds.items()}
    return {
        "steps_per_second": round(1 / medians[DEFAULT]),
        "whole_run_steps_per_second": round(1 / statistics.median(whole[1:])),
        "gates": {
            gate: {
                "steps_per_second": round(1 / median),
                "times_never": round(median / medians[BASE], 3),
            }
            for gate, median in medians.items()
        },
    }


def step_seconds(maker: InMemory, spec: RunSpec) -> float:
    """Return the mean time of a step of one run."""
    outcomes = maker.begin(prepare(spec, maker.resources))
    began = time.process_time()
    steps = sum(1 for _ in outcomes)
    return (time.process_time() - began) / steps


def spec_of(gate: str, *, seed: int) -> RunSpec:
    """Return the run of a gate with its own parameters."""
    return make_spec(
        environment="parity",
        method="gated_prompt",
        method_params={"gate": gate, "editor": "obedient"},
        model="none",
        feedback="binary,noise=0.1",
        seed=seed,
    )


if __name__ == "__main__":
    main()
