"""Kills a run with `kill -9` at three random points, resumes it, and compares it with a whole one.

The stream is `house_rules` on the `shop` database with DRPG, comments and half of the corrections;
the model is the local one with one slot. `--quick` takes a scripted model in its place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

COMPARED = (
    "steps.jsonl of a run that was killed with SIGKILL at three random points and resumed is "
    "compared, byte for byte, with that of an uninterrupted run of the same spec."
)
KILLS = 3
LOOK_EVERY = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """When a process was killed: whole steps on record, and seconds after the last of them."""

    steps_on_record: int
    seconds_into_the_next: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out."""

    model: str
    steps: int
    kills: tuple[Kill, ...]
    identical: bool
    sha256_whole: str
    sha256_resumed: str
    calls_whole: int
    seconds_a_step: float


def main() -> int:
    """Run the comparison and print it."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="kill-and-resume-") as folder:
        result = compare(
            Path(folder),
            model="scripted/echo" if options.quick else options.model,
            steps=90 if options.quick else options.steps,
            rng=np.random.default_rng(options.seed),
        )
    print(json.dumps(asdict(result)) if options.json else describe(result))
    return 0 if result.identical else 1


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--model", default="local", help="any model name; one slot is used")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0, help="decides where the run is killed")
    parser.add_argument("--quick", action="store_true", help="a scripted model, under 30 seconds")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def compare(folder: Path, *, model: str, steps: int, rng: np.random.Generator) -> Result:
    """Make the whole run, then the killed one."""
    whole, killed = folder / "whole", folder / "killed"
    finish(start(whole, model=model, steps=steps))
    pace = seconds_a_step(whole)
    points = sorted(rng.choice(np.arange(steps * 4 // 5), size=KILLS, replace=False).tolist())
    kills = tuple(
        kill_after(
            start(killed, model=model, steps=steps),
            killed,
            lines=int(point),
            seconds=float(rng.uniform(0, pace)),
        )
        for point in points
    )
    finish(start(killed, model=model, steps=steps))
    first, second = (path / "steps.jsonl" for path in (whole, killed))
    return Result(
        model=model,
        steps=len(read_lines(whole)),
        kills=kills,
        identical=first.read_bytes() == second.read_bytes(),
        sha256_whole=digest(first),
        sha256_resumed=digest(second),
        calls_whole=sum(len(json.loads(line)["calls"]) for line in read_lines(whole)),
        seconds_a_step=round(pace, 3),
    )


def start(directory: Path, *, model: str, steps: int) -> subprocess.Popen[bytes]:
    """Begin a run, or go on with it, in a process of its own."""
    words = f"run house_rules --method drpg --set database=shop --model {model} --steps {steps}"
    feedback = ["--feedback", "comment,correction=0.5"]
    program = [sys.executable, "-c", "from learnloop.cli.main import main; main()"]
    place = ["--out", str(directory), "--resume"]
    return subprocess.Popen(
        [*program, *words.split(), *feedback, *place],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a run to come to its end."""
    _, said = process.communicate()
    if process.returncode != 0:
        raise SystemExit(said.decode())


def kill_after(
    process: subprocess.Popen[bytes], directory: Path, *, lines: int, seconds: float
) -> Kill:
    """Kill a run so many seconds after it has so many steps on record."""
    while process.poll() is None and not (begun(directory) and len(read_lines(directory)) >= lines):
        time.sleep(LOOK_EVERY)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if process.returncode != -signal.SIGKILL:
        raise SystemExit(f"the run ended with {process.returncode} before it could be killed")
    return Kill(steps_on_record=len(read_lines(directory)), seconds_into_the_next=round(seconds, 3))


def begun(directory: Path) -> bool:
    """Whether the run's first files are there."""
    return (directory / "run.json").exists()


def read_lines(directory: Path) -> list[bytes]:
    """Return the whole lines of `steps.jsonl`."""
    path = directory / "steps.jsonl"
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def seconds_a_step(directory: Path) -> float:
    """Return the mean duration of a step."""
    lines = (directory / "timings.jsonl").read_text().splitlines()
    return sum(json.loads(line)["seconds"] for line in lines) / len(lines)


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def describe(result: Result) -> str:
    """Return the result for people."""
    kills = "; ".join(
        f"{kill.steps_on_record} steps on record and {kill.seconds_into_the_next} s later"
        for kill in result.kills
    )
    verdict = "identical" if result.identical else "DIFFERENT"
    return (
        f"model {result.model}, {result.steps} steps, {result.calls_whole} calls, "
        f"{result.seconds_a_step} s a step\nkilled with {kills}\n"
        f"steps.jsonl: {verdict} (sha256 {result.sha256_whole[:16]}… and "
        f"{result.sha256_resumed[:16]}…)"
    )


if __name__ == "__main__":
    sys.exit(main())
