import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learnloop.errors import (
    InputError,
    ModelConnectionError,
    ModelRequestError,
    RecordError,
    ReplayError,
    ResumeError,
)
from learnloop.llm.scripted import Scripted
from learnloop.records.reader import read_run
from learnloop.records.writer import RunWriter
from learnloop.runner.budget import Budget
from learnloop.runner.conduct import is_complete

METHODS = ["zero_shot", "self_stream_icl", "drpg"]


def steps(directory):
    return (directory / "steps.jsonl").read_bytes()


def test_a_run_leaves_a_line_a_step_and_says_that_it_is_complete(bench, tmp_path):
    records = bench.run(tmp_path)
    run = read_run(tmp_path)
    assert run.steps == tuple(records)
    assert len(run.steps) == len(run.timings) == 6
    assert run.info.complete
    assert run.info.stopped is None
    assert run.info.model == "m"
    assert is_complete(tmp_path, bench.prepare(feedback="comment,correction=0.5").spec)


def test_the_ledger_has_the_answering_and_the_policy_calls(bench, tmp_path):
    model = Scripted(bench.script, name="m")
    records = bench.run(tmp_path, model=model)
    roles = [call.role for record in records for call in record.calls]
    assert roles.count("answer") == 6
    assert set(roles) == {"answer", "policy"}
    assert len(roles) == model.calls


@pytest.mark.parametrize("method", METHODS)
def test_a_run_made_twice_is_the_same_byte_for_byte(bench, tmp_path, method):
    bench.run(tmp_path / "a", method=method)
    bench.run(tmp_path / "b", method=method)
    assert steps(tmp_path / "a") == steps(tmp_path / "b")


def test_a_run_is_not_overwritten(bench, tmp_path):
    bench.run(tmp_path)
    before = steps(tmp_path)
    with pytest.raises(InputError, match="pass --resume or another --out"):
        bench.run(tmp_path)
    assert steps(tmp_path) == before


def test_resuming_another_run_names_what_changed_and_loses_nothing(bench, tmp_path):
    bench.run(tmp_path, steps=4)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.json*")}
    with pytest.raises(ResumeError, match=r"steps: was 4, now None; seed: was 0, now 1"):
        bench.run(tmp_path, seed=1, resume=True)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.json*")} == before


def test_resuming_where_there_is_nothing_begins(bench, tmp_path):
    assert len(bench.run(tmp_path / "new", resume=True)) == 6


def test_a_run_that_was_complete_replays_without_a_call(bench, tmp_path):
    bench.run(tmp_path)
    before, timings = steps(tmp_path), (tmp_path / "timings.jsonl").read_bytes()
    model = Scripted(bench.script, name="m")
    bench.run(tmp_path, model=model, resume=True)
    assert model.calls == 0
    assert steps(tmp_path) == before
    assert (tmp_path / "timings.jsonl").read_bytes() == timings


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_stops_between_steps_and_resuming_goes_on(bench, tmp_path, method):
    bench.run(tmp_path / "whole", method=method)
    bench.run(tmp_path / "parts", method=method, budget=Budget(max_calls=3))
    stopped = read_run(tmp_path / "parts")
    assert 0 < len(stopped.steps) < 6
    assert not stopped.info.complete
    assert stopped.info.stopped.startswith("budget spent: max_calls = 3")
    bench.run(tmp_path / "parts", method=method, resume=True)
    assert steps(tmp_path / "parts") == steps(tmp_path / "whole")
    assert read_run(tmp_path / "parts").info.complete


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_run_cut_off_at_any_byte_goes_on_as_if_nothing_had_happened(
    bench, finished, tmp_path_factory, data
):
    directory = tmp_path_factory.mktemp("cut")
    for path in finished.iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    for name in ("steps.jsonl", "timings.jsonl"):
        content = (finished / name).read_bytes()
        cut = data.draw(st.integers(min_value=0, max_value=len(content)), label=name)
        (directory / name).write_bytes(content[:cut])
    bench.run(directory, resume=True)
    assert steps(directory) == steps(finished)
    assert (directory / "timings.jsonl").read_bytes().count(b"\n") == 6


def test_a_step_that_does_not_replay_is_named_with_its_field(bench, tmp_path):
    bench.run(tmp_path)
    lines = [json.loads(line) for line in steps(tmp_path).splitlines()]
    lines[3]["answer"] = "edited"
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    (tmp_path / "steps.jsonl").write_text(text)
    with pytest.raises(ReplayError, match=r"step 3 of .* 'answer' differs"):
        bench.run(tmp_path, resume=True)
    assert steps(tmp_path).decode() == text


def test_failed_steps_fail_again_at_the_same_place(bench, tmp_path):
    failures = {0: ModelRequestError("refused"), 4: ModelRequestError("refused")}
    failing = Scripted(bench.script, name="m", failures=failures)
    bench.run(tmp_path, model=failing)
    before = steps(tmp_path)
    assert read_run(tmp_path).steps[0].failed == "ModelRequestError: refused"
    (tmp_path / "steps.jsonl").write_bytes(b"")
    bench.run(tmp_path, resume=True)
    assert steps(tmp_path) == before


def test_a_model_that_was_never_reached_leaves_no_run(bench, tmp_path):
    nobody = Scripted(bench.script, name="m", failures={0: ModelConnectionError("nobody there")})
    with pytest.raises(InputError, match="cannot be used: nobody there"):
        bench.run(tmp_path / "run", model=nobody)
    assert not (tmp_path / "run").exists()
    assert len(bench.run(tmp_path / "run")) == 6


def test_a_model_that_goes_away_later_fails_that_step_only(bench, tmp_path):
    away = Scripted(bench.script, name="m", failures={3: ModelConnectionError("gone")})
    records = bench.run(tmp_path, model=away, method="zero_shot")
    assert [record.failed for record in records] == [None] * 3 + [
        "ModelConnectionError: gone",
        None,
        None,
    ]


def test_two_processes_do_not_write_one_run(bench, tmp_path):
    bench.run(tmp_path)
    with RunWriter(tmp_path), pytest.raises(RecordError, match="another process is writing"):
        bench.run(tmp_path, resume=True)


def test_runs_may_share_their_responses(bench, tmp_path):
    shared = tmp_path / "responses.sqlite"
    bench.run(tmp_path / "a", responses=shared)
    model = Scripted(bench.script, name="m")
    bench.run(tmp_path / "b", responses=shared, model=model)
    assert model.calls == 0
    assert steps(tmp_path / "a") == steps(tmp_path / "b")
    assert not (tmp_path / "a" / "responses.sqlite").exists()


class Interrupted(Scripted):
    """Is stopped by the user in the middle of its third call."""

    def complete(self, messages, *, options):
        if self.calls == 3:
            raise KeyboardInterrupt
        return super().complete(messages, options=options)


def test_a_run_that_the_user_stops_goes_on_later(bench, tmp_path):
    bench.run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        bench.run(tmp_path / "run", model=Interrupted(bench.script, name="m"))
    bench.run(tmp_path / "run", resume=True)
    assert steps(tmp_path / "run") == steps(tmp_path / "whole")
