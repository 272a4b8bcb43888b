import json

from learnloop.records.reader import find_runs, read_run


def test_three_methods_answer_the_same_questions_and_leave_a_report(learnloop, tmp_path):
    done = learnloop("quickstart", "--model", "scripted/static", "-n", 3, "--json")
    assert done.exit_code == 0
    end = json.loads(done.stdout)
    assert list(end["methods"]) == ["zero_shot", "self_stream_icl", "drpg"]
    assert (tmp_path / end["report"]).is_file()
    asked = {tuple(step.query_id for step in read_run(one).steps) for one in find_runs(tmp_path)}
    assert len(asked) == 1
    assert len(asked.pop()) == 3


def test_the_same_command_goes_on_where_it_stopped(learnloop):
    words = ("quickstart", "--model", "scripted/static", "-n", 2, "--json")
    first, second = learnloop(*words), learnloop(*words)
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
    assert not list(tmp_path.rglob("run.json"))


def test_no_steps_are_refused(learnloop):
    done = learnloop("quickstart", "-n", 0)
    assert done.exit_code == 2
    assert "--steps must be at least 1, got 0" in done.stderr
