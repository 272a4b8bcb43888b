"""Writes small runs whose every number a reader can count."""

from pathlib import Path

import pytest

from learnloop.records.encoding import INFO, STEP, TIMING, encode
from learnloop.records.schema import (
    CallRecord,
    CallTiming,
    RunInfo,
    StepRecord,
    StepTiming,
)
from learnloop.records.writer import INFO_FILE, STEPS_FILE, TIMINGS_FILE
from learnloop.reports.load import load_runs
from learnloop.types import Feedback


def make_step(number, score, **fields):
    call = CallRecord(role="answer", model="local", tokens_in=100, tokens_out=10)
    given = {
        "query_id": f"q{number}",
        "query": f"How many of {number}?",
        "group": "shop",
        "answer": "SELECT 1",
        "gold": "SELECT 2",
        "feedback": (Feedback(id=f"f{number}", target_id=f"q{number}", correct=score == 1),),
        "calls": (call,),
    }
    return StepRecord(step=number, score=score, **(given | fields))


def make_timing(number, calls=1):
    clock = CallTiming(role="answer", seconds=1.5, tokens_cached=40, replayed=False)
    return StepTiming(step=number, seconds=2.0, calls=(clock,) * calls)


class Runs:
    """Writes runs under one folder and reads them back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, method, scores, *, seed=0, feedback="comment", steps=None, spec=None, **info):
        """Write one run with these scores, or these whole steps."""
        records = [
            one if isinstance(one, StepRecord) else make_step(number, one)
            for number, one in enumerate(scores)
        ]
        whole = {
            "environment": "house_rules",
            "environment_params": {"database": "shop"},
            "method": method,
            "method_params": {},
            "model": "local",
            "steps": steps,
            "seed": seed,
            "feedback": feedback,
        } | (spec or {})
        name = f"run{len(list(self.folder.iterdir()))}"
        given = {
            "run_id": name,
            "spec": whole,
            "spec_hash": "ab" * 32,
            "environment_id": "house_rules-v1",
            "task": "house_rules",
            "metric": "execution accuracy",
            "method": method,
            "model": "local",
            "model_sha256": "cd" * 32,
            "packages": {"learnloop": "0.1.0"},
            "machine": {"system": "Linux"},
            "complete": True,
        }
        folder = self.folder / name
        folder.mkdir()
        (folder / INFO_FILE).write_bytes(encode(INFO, RunInfo(**(given | info))))
        lines = [encode(STEP, record) for record in records]
        (folder / STEPS_FILE).write_bytes(b"".join(lines))
        clocks = [encode(TIMING, make_timing(r.step, len(r.calls))) for r in records]
        (folder / TIMINGS_FILE).write_bytes(b"".join(clocks))
        return folder

    def load(self):
        """Read all that was written."""
        return load_runs([self.folder])


@pytest.fixture(scope="session")
def runs_in():
    """Return a maker of runs under a folder."""
    return Runs


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return Runs(folder)


@pytest.fixture(scope="session")
def step():
    return make_step
