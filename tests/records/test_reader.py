import json

import pytest

from learnloop.errors import RecordError
from learnloop.records.encoding import INFO as INFO_TYPE
from learnloop.records.encoding import decode, encode
from learnloop.records.reader import find_runs, read_info, read_run
from learnloop.records.schema import CallRecord, CallTiming, RunInfo, StepRecord, StepTiming
from learnloop.records.summary import summarise
from learnloop.records.writer import RunWriter

INFO = RunInfo(
    run_id="r",
    spec={"environment": "shop", "environment_params": {"k": 1}, "seed": 3, "steps": None},
    spec_hash="00",
    environment_id="shop-v1",
    task="shop",
    metric="accuracy",
    method="zero_shot",
    model="scripted/static",
    model_sha256=None,
    packages={"learnloop": "0.1.0"},
    machine={"cpus": "2"},
)


def record(number, *, score=1.0, failed=None):
    call = CallRecord(role="answer", model="m", tokens_in=10, tokens_out=2)
    return StepRecord(
        step=number,
        query_id=f"q{number}",
        query="?",
        group="",
        answer="a",
        score=score,
        failed=failed,
        calls=(call,),
    )


def timing(number):
    call = CallTiming(role="answer", seconds=0.5, tokens_cached=4, replayed=False)
    return StepTiming(step=number, seconds=2.0, calls=(call,))


def write(directory, *, steps=2):
    with RunWriter(directory) as writer:
        writer.write_info(INFO)
        for number in range(steps):
            writer.append_timing(timing(number))
            writer.append_step(record(number, score=number % 2))


def test_a_run_reads_back_as_it_was_written(tmp_path):
    write(tmp_path)
    run = read_run(tmp_path)
    assert run.info == INFO
    assert run.steps == (record(0, score=0.0), record(1))
    assert run.timings == (timing(0), timing(1))


def test_a_run_that_is_being_written_reads_without_its_torn_line(tmp_path):
    write(tmp_path)
    with (tmp_path / "steps.jsonl").open("ab") as file:
        file.write(b'{"step":2,"que')
    assert len(read_run(tmp_path).steps) == 2


def test_a_run_without_steps_reads(tmp_path):
    write(tmp_path, steps=0)
    assert read_run(tmp_path).steps == ()


def test_an_edited_line_is_named(tmp_path):
    write(tmp_path)
    path = tmp_path / "steps.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b'{"step":"zero"}\n' + lines[1])
    with pytest.raises(RecordError, match=r"steps.jsonl, line 1 cannot be read"):
        read_run(tmp_path)


def test_a_directory_without_a_run_is_a_clear_error(tmp_path):
    with pytest.raises(RecordError, match=r"no run in .* it has no run.json"):
        read_info(tmp_path)


def test_runs_are_found_under_a_path_in_order(tmp_path):
    for name in ("b", "a/deep"):
        write(tmp_path / name, steps=0)
    assert find_runs(tmp_path) == [tmp_path / "a" / "deep", tmp_path / "b"]
    with pytest.raises(RecordError, match="no run at or under"):
        find_runs(tmp_path / "a" / "deep" / "none")


def test_a_summary_adds_up_what_is_on_record():
    steps = [record(0), record(1, score=0.0, failed="RateLimitError: wait"), record(2)]
    # The fourth timing belongs to a step that was never recorded.
    summary = summarise(steps, [timing(number) for number in range(4)])
    assert summary.steps == 3
    assert summary.accuracy == pytest.approx(2 / 3)
    assert (summary.failed, summary.calls) == (1, 3)
    assert (summary.tokens_in, summary.tokens_cached, summary.tokens_out) == (30, 12, 6)
    assert summary.seconds == 6.0


def test_a_run_from_before_notes_is_read_with_none():
    fields = json.loads(encode(INFO_TYPE, INFO))
    assert fields.pop("note") == ""
    assert decode(INFO_TYPE, json.dumps(fields).encode(), where="run.json") == INFO
