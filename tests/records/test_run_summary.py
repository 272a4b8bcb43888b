import math

import pytest

from learnloop.records.reader import read_summaries
from learnloop.records.run_summary import CHANGED, RoleUse, noise_of, summarise_run
from learnloop.records.schema import CallRecord, RunInfo, StepRecord
from learnloop.records.summaries import SummaryWriter, encode_summary
from learnloop.records.writer import SUMMARIES_FILE
from learnloop.types import Event

INFO = RunInfo(
    run_id="guess-P-seed3",
    spec={"environment": "guess", "feedback": "binary,noise=0.2", "seed": 3, "label": "P"},
    spec_hash="abc",
    environment_id="guess-v1",
    task="guess",
    metric="closeness",
    method="gated_prompt",
    model="none",
    model_sha256=None,
    packages={},
    machine={},
    complete=True,
)


def record(step, *, score=1.0, answer="", gold="", tags=(), events=(), calls=(), failed=None):
    return StepRecord(
        step=step,
        query_id=f"q{step}",
        query="",
        group="",
        answer=answer,
        score=score,
        gold=gold,
        tags=tags,
        events=events,
        calls=calls,
        failed=failed,
    )


def event(kind, text=""):
    return Event(kind=kind, text=text)


def test_distances_are_taken_where_answer_and_truth_are_whole_numbers():
    steps = [
        record(0, answer="10", gold="13"),
        record(1, answer="7", gold="3"),
        record(2, answer="none of them", gold="3"),
    ]
    summary = summarise_run(INFO, steps)
    assert summary.mae == pytest.approx((3 + 4) / 2)
    assert summary.rmse == pytest.approx(math.sqrt((9 + 16) / 2))
    words = summarise_run(INFO, [record(0, answer="Red", gold="Blue", score=0.0)])
    assert (words.mae, words.rmse, words.accuracy) == (None, None, 0.0)


def test_what_was_done_to_the_prompt_is_counted_by_kind():
    steps = [
        record(0, score=0.0, events=(event("editor_called", "charged 3"), event("prompt_changed"))),
        record(1, events=(event("editor_called", "charged 1"), event("proposal_invalid"))),
        record(2, events=(event("rolled_back"),)),
        record(3, events=(event("recalled"), event("prompt_kept"), event("prompt_initial"))),
    ]
    summary = summarise_run(INFO, steps)
    assert (summary.editor_calls, summary.calls_charged, summary.prompt_changes) == (2, 4, 1)
    assert (summary.invalid_proposals, summary.rollbacks, summary.recalls) == (1, 1, 1)
    # The editor was called once after a wrong answer, and once after a right one; so was a recall.
    assert summary.false_alarms == 2


def test_a_delay_runs_from_a_change_to_the_first_right_answer():
    changed = (CHANGED,)
    steps = [
        record(0),
        record(1, score=0.0, tags=changed),
        record(2, score=0.0),
        record(3),  # two steps later
        record(4, score=0.0, tags=changed),
        record(5, score=0.0, tags=changed),  # the change before was never followed
        record(6),
        record(7, tags=changed),  # a wrong prompt that has become right
        record(8, score=0.0, tags=changed),  # the stream ends first
    ]
    summary = summarise_run(INFO, steps)
    assert summary.delays == (2, None, 1, 0, None)
    assert summary.changes == 5


def test_calls_are_added_up_by_role():
    def call(role, tokens_in, error=None):
        return CallRecord(role=role, model="m", tokens_in=tokens_in, tokens_out=2, error=error)

    steps = [
        record(0, calls=(call("answer", 10), call("edit", 100))),
        record(1, score=0.0, calls=(call("answer", 0, "refused"),), failed="refused"),
    ]
    summary = summarise_run(INFO, steps)
    assert summary.calls == {
        "answer": RoleUse(calls=2, tokens_in=10, tokens_out=4),
        "edit": RoleUse(calls=1, tokens_in=100, tokens_out=2),
    }
    assert (summary.failed, summary.accuracy) == (1, 0.5)


def test_a_run_without_a_step_has_no_accuracy():
    assert summarise_run(INFO, []).accuracy is None


@pytest.mark.parametrize(
    ("feedback", "noise"),
    [("binary", 0.0), ("binary,noise=0.1", 0.1), ("noise=0.25, comment", 0.25), ("", 0.0)],
)
def test_noise_is_read_from_the_feedback(feedback, noise):
    assert noise_of(feedback) == noise


def test_a_summary_reads_back_as_it_was_written(tmp_path):
    summary = summarise_run(INFO, [record(0, tags=(CHANGED,)), record(1, answer="3", gold="5")])
    assert (summary.seed, summary.label, summary.environment) == (3, "P", "guess")
    with SummaryWriter(tmp_path, clock=lambda: 0.0) as writer:
        writer.append(encode_summary(summary))
        assert read_summaries(tmp_path) == ()  # it waits for the batch
    assert read_summaries(tmp_path) == (summary,)


def test_a_batch_waits_a_second_and_no_longer(tmp_path):
    ticks = iter([0.0, 0.5, 1.0, 1.0, 2.0])
    line = encode_summary(summarise_run(INFO, []))
    with SummaryWriter(tmp_path, clock=lambda: next(ticks)) as writer:
        writer.append(line)
        assert len(read_summaries(tmp_path)) == 0
        writer.append(line)
        assert len(read_summaries(tmp_path)) == 2


def test_a_torn_last_line_is_cut_away_when_the_study_goes_on(tmp_path):
    line = encode_summary(summarise_run(INFO, []))
    (tmp_path / SUMMARIES_FILE).write_bytes(line + line[:40])
    assert len(read_summaries(tmp_path)) == 1
    with SummaryWriter(tmp_path, clock=lambda: 0.0) as writer:
        writer.append(line)
    assert (tmp_path / SUMMARIES_FILE).read_bytes() == line + line
