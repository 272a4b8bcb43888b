import json
from dataclasses import replace

import pytest

from learnloop.records.encoding import INFO, encode
from learnloop.records.reader import find_runs, read_info, read_run
from learnloop.records.writer import INFO_FILE, STEPS_FILE

WORDS = ("quickstart", "--model", "scripted/static", "-n", 2, "--json")


def opening_act(folder):
    """Return the runs of the opening act by their labels."""
    found = [run for run in find_runs(folder) if run.parent.name == "control"]
    return {read_info(run).spec["label"]: run for run in found}


def test_the_opening_act_is_three_ways_to_edit_on_one_noisy_stream(learnloop, tmp_path):
    done = learnloop(*WORDS)
    assert done.exit_code == 0
    act = json.loads(done.stdout)["control"]
    runs = {label: read_run(run) for label, run in opening_act(tmp_path).items()}
    assert list(act) == ["No Edit", "P", "Bayes"]
    assert runs.keys() == act.keys()
    for label, records in runs.items():
        spec = records.info.spec
        assert (spec["environment"], spec["feedback"]) == ("parity", "binary,noise=0.1")
        assert records.info.complete
        right = sum(step.score for step in records.steps)
        assert act[label]["accuracy"] == pytest.approx(right / len(records.steps))
        assert act[label]["calls"] == sum(len(step.calls) for step in records.steps)
    met = {tuple((step.query, step.gold) for step in run.steps) for run in runs.values()}
    assert len(met) == 1
    assert act["No Edit"]["calls"] == act["No Edit"]["changes"] == 0
    assert act["P"]["calls"] == 16


def test_an_opening_act_that_stopped_goes_on_to_the_same_bytes(learnloop, tmp_path):
    learnloop(*WORDS)
    run = opening_act(tmp_path)["P"]
    whole = (run / STEPS_FILE).read_bytes()
    cut = b"".join(whole.splitlines(keepends=True)[:50])
    (run / STEPS_FILE).write_bytes(cut)
    stopped = replace(read_info(run), complete=False)
    (run / INFO_FILE).write_bytes(encode(INFO, stopped))
    again = learnloop(*WORDS)
    assert again.exit_code == 0
    assert "P step 120/120" in again.stderr
    assert "Bayes step" not in again.stderr
    assert (run / STEPS_FILE).read_bytes() == whole
    assert read_info(run).complete


def test_the_end_is_told_in_words_act_by_act(learnloop):
    lines = learnloop(*WORDS[:-1]).stdout.splitlines()
    assert lines[0].startswith("No Edit: ")
    assert lines[0].endswith(" right, 0 changes of the prompt, 0 calls")
    assert [line.partition(":")[0] for line in lines] == [
        *("No Edit", "P", "Bayes"),
        *("zero_shot", "self_stream_icl", "drpg"),
        "report",
    ]


def test_three_methods_answer_the_same_questions_and_leave_a_report(learnloop, tmp_path):
    done = learnloop("quickstart", "--model", "scripted/static", "-n", 3, "--json")
    assert done.exit_code == 0
    end = json.loads(done.stdout)
    assert list(end["methods"]) == ["zero_shot", "self_stream_icl", "drpg"]
    assert (tmp_path / end["report"]).is_file()
    shop = [run for run in find_runs(tmp_path) if run.parent.name != "control"]
    asked = {tuple(step.query_id for step in read_run(run).steps) for run in shop}
    assert len(asked) == 1
    assert len(asked.pop()) == 3


def test_the_same_command_goes_on_where_it_stopped(learnloop):
    first, second = learnloop(*WORDS), learnloop(*WORDS)
    assert first.stdout == second.stdout
    assert "step" not in second.stderr


def test_an_unknown_model_is_one_line_and_leaves_nothing(learnloop, tmp_path):
    done = learnloop("quickstart", "--model", "locl")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        "learnloop: no model named 'locl'; did you mean 'local'?"
    )
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_there_is_said_once(learnloop, tmp_path):
    done = learnloop("quickstart", "--model", "http://127.0.0.1:9/v1#x", "-n", 2)
    assert done.exit_code == 2
    assert done.stderr.count("nobody answers") == 1
    made = [read_run(run) for run in find_runs(tmp_path)]
    assert {run.directory.parent.name for run in made} == {"control"}, "the second act begins"
    assert not [step for run in made for step in run.steps if step.calls], "a call that was none"


def test_no_steps_are_refused(learnloop):
    done = learnloop("quickstart", "-n", 0)
    assert done.exit_code == 2
    assert "--steps must be at least 1, got 0" in done.stderr
