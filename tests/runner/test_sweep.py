import itertools
import signal
import threading

import pytest

from learnloop.errors import ModelRequestError
from learnloop.llm.scripted import Scripted
from learnloop.records.reader import read_run
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.spec import make_spec
from learnloop.runner.sweep import BY_USER, plan, sweep

STEPS = 4


class Shelf:
    """Hands out one model and one embedder."""

    def __init__(self, model, embedder):
        self._model = model
        self._embedder = embedder

    def model(self, name):
        return self._model

    def model_sha256(self, name):
        return None

    def embedder(self, name, ledger):
        return self._embedder


class Notes:
    def __init__(self):
        self.steps = {}
        self.endings = {}

    def stepped(self, planned, outcome):
        self.steps.setdefault(planned.spec.seed, []).append(outcome.record.step)

    def ended(self, planned, why):
        self.endings[planned.spec.seed] = why


def specs(seeds):
    return [
        make_spec(
            environment="house_rules",
            environment_params={"database": "shop"},
            method="self_stream_icl",
            model="m",
            steps=STEPS,
            seed=seed,
        )
        for seed in seeds
    ]


def run(directory, embedder, script, *, seeds=range(4), jobs=2, budget=None):
    notes = Notes()
    ticks = itertools.count()
    spending = Spending(budget or Budget(), clock=lambda: next(ticks))
    sweep(
        plan(specs(seeds), directory),
        directory=directory,
        resources=Shelf(Scripted(script(spending), name="m"), embedder),
        spending=spending,
        jobs=jobs,
        watcher=notes,
    )
    return notes


def constant(spending):
    return lambda messages, options: "SELECT 1"


def test_every_run_is_made_and_watched(tmp_path, embedder):
    notes = run(tmp_path, embedder, constant)
    assert notes.steps == {seed: list(range(STEPS)) for seed in range(4)}
    assert notes.endings == dict.fromkeys(range(4))
    assert {planned.state for planned in plan(specs(range(4)), tmp_path)} == {"complete"}


def test_ctrl_c_lets_each_run_finish_its_step_and_the_same_call_goes_on(tmp_path, embedder):
    run(tmp_path / "whole", embedder, constant)

    def interrupting(spending):
        calls = itertools.count()

        def script(messages, options):
            if next(calls) == 5:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                while spending.why_stop() is None:
                    pass
            return "SELECT 1"

        return script

    notes = run(tmp_path / "parts", embedder, interrupting)
    assert BY_USER in notes.endings.values()
    made = [planned.steps_done for planned in plan(specs(range(4)), tmp_path / "parts")]
    assert 5 <= sum(made) < 4 * STEPS
    again = run(tmp_path / "parts", embedder, constant)
    assert set(again.endings.values()) == {None}
    for spec in specs(range(4)):
        whole, parts = (
            (tmp_path / name / spec.run_id / "steps.jsonl").read_bytes()
            for name in ("whole", "parts")
        )
        assert whole == parts


def test_a_budget_holds_for_the_whole_study(tmp_path, embedder):
    # The answers are the same, but every question is asked once a seed: 16 calls for all runs.
    notes = run(tmp_path, embedder, constant, jobs=1, budget=Budget(max_calls=6))
    assert sum(len(steps) for steps in notes.steps.values()) < 4 * STEPS
    assert {why for why in notes.endings.values() if why} != set()
    assert all("max_calls = 6" in why for why in notes.endings.values() if why)


def test_failed_calls_are_failed_steps_and_no_failed_run(tmp_path, embedder):
    def failing(spending):
        def script(messages, options):
            raise ModelRequestError("refused")

        return script

    notes = run(tmp_path, embedder, failing, seeds=[0])
    assert notes.endings == {0: None}
    (planned,) = plan(specs([0]), tmp_path)
    assert {step.failed for step in read_run(planned.directory).steps} == {
        "ModelRequestError: refused"
    }


def test_a_run_that_cannot_be_made_does_not_stop_the_others(tmp_path, embedder):
    blocked = tmp_path / specs([1])[0].run_id
    blocked.write_text("a file where a directory must be")
    notes = run(tmp_path, embedder, constant)
    assert notes.endings[1].startswith("failed: RecordError: cannot write in")
    assert [notes.endings[seed] for seed in (0, 2, 3)] == [None, None, None]


@pytest.mark.parametrize("jobs", [1, 3])
def test_how_many_run_at_once_changes_nothing_on_record(tmp_path, embedder, jobs):
    run(tmp_path / "one", embedder, constant, jobs=1)
    run(tmp_path / "many", embedder, constant, jobs=jobs)
    for spec in specs(range(4)):
        one, many = (tmp_path / name / spec.run_id / "steps.jsonl" for name in ("one", "many"))
        assert one.read_bytes() == many.read_bytes()
