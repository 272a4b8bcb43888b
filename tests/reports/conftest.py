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
from learnloop.reports.control_sections import from_record, make_control_sections
from learnloop.reports.load import load_runs
from learnloop.types import Decision, Event, Feedback


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


class ControlRuns:
    """Runs of control tasks that a reader can count: a handful of steps, each written out."""

    CALLED = Event(kind="editor_called", text="charged 1", refs=("step-0",))
    EDITED = Event(kind="prompt_changed", text="even: Blue\nodd: Red", refs=("1", "0"))
    FIRST = Event(kind="prompt_initial", text="even: Red\nodd: Blue", refs=("0",))
    INVALID = Event(kind="proposal_invalid", text="no colour")
    KEPT = Event(kind="prompt_kept", text="no colour")
    BACK = Event(kind="rolled_back", text="even: Red\nodd: Blue", refs=("2", "1"))
    RECALLED = Event(kind="recalled", text="even: Red\nodd: Blue", refs=("3", "2"))

    @staticmethod
    def steps(pattern, *, events=None, changes=(), answer="Red", golds=None, calls=()):
        """Return one step a letter: `.` is right, `x` wrong; `events` and `changes` by step."""
        made = []
        for number, letter in enumerate(pattern):
            right = letter == "."
            gold = golds[number] if golds else answer if right else "Blue"
            here = tuple((events or {}).get(number, ()))
            opened = any(event.kind in ("editor_called", "recalled") for event in here)
            made.append(
                StepRecord(
                    step=number,
                    query_id=f"step-{number}",
                    query=str(2 * number),
                    group="",
                    answer=answer,
                    score=float(right),
                    gold=gold,
                    tags=("changed",) if number in changes else (),
                    feedback=(
                        Feedback(id=f"f{number}", target_id=f"step-{number}", observed=gold),
                    ),
                    error=float(not right),
                    decision=Decision(
                        opened=opened,
                        signal=float(not right),
                        terms={"s": float(not right), "threshold": 1.0, "eta": 0.1},
                    ),
                    prompt_version=0,
                    events=here,
                    calls=calls if opened else (),
                )
            )
        return made

    @staticmethod
    def write(runs, label, made, *, seed=1, noise=0.1, task="parity", params=None, **info):
        """Write one run of an arm."""
        feedback = f"binary,noise={noise}" if noise else "binary"
        spec = {
            "environment": task,
            "environment_params": {},
            "method_params": params or {},
            "label": label,
        }
        given = {"environment_id": f"{task}-v1", "task": task, "metric": "any"} | info
        return runs.write("gated_prompt", made, seed=seed, feedback=feedback, spec=spec, **given)

    @staticmethod
    def section_of(runs):
        """Return the only section of all that was written."""
        (section,) = make_control_sections(map(from_record, runs.load()))
        return section


@pytest.fixture(scope="session")
def control():
    return ControlRuns
