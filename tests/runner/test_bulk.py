import itertools
import os
import signal

import pytest

from learnloop.errors import ParameterError
from learnloop.records.lines import whole_lines
from learnloop.records.reader import read_run, read_summaries
from learnloop.records.run_summary import summarise_run
from learnloop.records.writer import SUMMARIES_FILE
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.bulk import make_bulk, plan_bulk
from learnloop.runner.resources import Resources
from learnloop.runner.spec import make_spec
from learnloop.runner.sweep import BY_USER, plan, sweep
from learnloop.settings import Settings

ARMS = (
    {"gate": "never"},
    {"gate": "cusum", "gate.threshold": 2.0, "rollback": "sprt"},
    {"gate": "bayes", "recall": "best"},
    {"gate": "proportional", "evidence": "recent", "editor": "majority"},
)


def specs(seeds, *, arms=ARMS, **fields):
    given = {
        "environment": "parity",
        "method": "gated_prompt",
        "model": "none",
        "feedback": "binary,noise=0.1",
    } | fields
    return [
        make_spec(method_params={"editor": "obedient"} | arm, seed=seed, **given)
        for seed in seeds
        for arm in arms
    ]


class Notes:
    def __init__(self, act=lambda count: None):
        self.reasons = {}
        self._act = act

    def made(self, run_id, why):
        self.reasons[run_id] = why
        self._act(len(self.reasons))

    def stepped(self, planned, outcome):
        pass

    def ended(self, planned, why):
        self.reasons[planned.spec.run_id] = why


def make(directory, wanted, *, jobs=1, notes=None, budget=None):
    notes = notes or Notes()
    ticks = itertools.count()
    spending = Spending(budget or Budget(), clock=lambda: float(next(ticks)))
    make_bulk(
        plan_bulk(wanted, directory),
        directory=directory,
        settings=Settings(cache=directory),
        spending=spending,
        jobs=jobs,
        watcher=notes,
    )
    return notes, spending


def lines(directory):
    return (directory / SUMMARIES_FILE).read_bytes()


@pytest.mark.parametrize("environment", ["parity", "guess", "track"])
def test_a_run_in_memory_comes_to_what_its_full_records_say(tmp_path, environment):
    wanted = specs([1], environment=environment, steps=60)
    make(tmp_path / "bulk", wanted)
    notes = Notes()
    sweep(
        plan(wanted, tmp_path / "full"),
        directory=tmp_path / "full",
        resources=Resources(settings=Settings(cache=tmp_path)),
        spending=Spending(Budget(), clock=lambda: 0.0),
        jobs=1,
        watcher=notes,
    )
    assert set(notes.reasons.values()) == {None}
    records = [read_run(tmp_path / "full" / spec.run_id) for spec in wanted]
    expected = tuple(summarise_run(run.info, run.steps) for run in records)
    assert read_summaries(tmp_path / "bulk") == expected


def test_processes_leave_the_same_lines_as_one(tmp_path):
    wanted = specs(range(20))
    make(tmp_path / "one", wanted)
    make(tmp_path / "many", wanted, jobs=2)
    assert len(read_summaries(tmp_path / "one")) == len(wanted)
    assert lines(tmp_path / "one") == lines(tmp_path / "many")


def test_runs_that_have_left_their_line_are_not_made_again(tmp_path):
    make(tmp_path, specs([1]))
    before = lines(tmp_path)
    notes, _ = make(tmp_path, specs([1, 2]))
    assert set(notes.reasons) == {spec.run_id for spec in specs([2])}
    assert lines(tmp_path).startswith(before)
    again, _ = make(tmp_path, specs([1, 2]))
    assert again.reasons == {}


def test_a_line_that_was_torn_is_made_again(tmp_path):
    make(tmp_path, specs([1]))
    whole = lines(tmp_path)
    (tmp_path / SUMMARIES_FILE).write_bytes(whole[:-30])
    make(tmp_path, specs([1]))
    assert lines(tmp_path) == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_between_runs_and_the_same_call_goes_on(tmp_path, jobs):
    wanted = specs(range(40))
    make(tmp_path / "whole", wanted)

    def interrupt(count):
        if count == 10:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    notes, spending = make(tmp_path / "parts", wanted, jobs=jobs, notes=Notes(interrupt))
    assert spending.why_stop() == BY_USER
    assert signal.getsignal(signal.SIGINT) is handler
    made = read_summaries(tmp_path / "parts")
    assert 10 <= len(made) == len(notes.reasons) < len(wanted)
    make(tmp_path / "parts", wanted, jobs=jobs)
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")


def test_a_run_that_fails_leaves_no_line_and_the_others_go_on(tmp_path):
    broken = {"gate": "cusum", "gate.threshold": -1.0}
    calling = {"gate": "proportional", "editor": "rewriter"}
    wanted = specs([1], arms=(*ARMS, broken, calling))
    notes, _ = make(tmp_path, wanted)
    reasons = [notes.reasons[spec.run_id] for spec in wanted]
    assert reasons[: len(ARMS)] == [None] * len(ARMS)
    assert "threshold must be above 0" in reasons[-2]
    assert reasons[-1].startswith("failed: InputError: this run has the model 'none' and called")
    assert len(read_summaries(tmp_path)) == len(ARMS)


def test_a_budget_of_seconds_holds(tmp_path):
    notes, spending = make(tmp_path, specs(range(40)), budget=Budget(max_seconds=1))
    assert "max_seconds = 1" in spending.why_stop()
    assert notes.reasons == {}


def test_a_bad_spec_is_found_before_anything_is_made(tmp_path):
    with pytest.raises(ParameterError, match="gate cusum has no parameter 'treshold'"):
        plan_bulk(specs([1], arms=({"gate": "cusum", "gate.treshold": 3.0},)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_line_is_never_written_in_part(tmp_path):
    make(tmp_path, specs([1, 2]))
    data = lines(tmp_path)
    assert b"".join(whole_lines(data)) == data
