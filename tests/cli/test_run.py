import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from learnloop.records.reader import find_runs, read_run

SHOP = ("run", "house_rules", "--set", "database=shop", "--model", "scripted/static")
DRPG = (*SHOP, "--method", "drpg", "--feedback", "comment,correction=0.5")


def test_a_run_ends_with_one_json_object(learnloop, tmp_path):
    done = learnloop(*DRPG, "--steps", 4, "--out", "here", "--json")
    assert done.exit_code == 0
    numbers = json.loads(done.stdout)
    assert list(numbers) == [
        "steps",
        "accuracy",
        "failed",
        "calls",
        "tokens_in",
        "tokens_cached",
        "tokens_out",
        "seconds",
        "dir",
    ]
    run = read_run(tmp_path / "here")
    calls = [call for step in run.steps for call in step.calls]
    assert numbers["steps"] == len(run.steps) == 4
    assert numbers["calls"] == len(calls)
    assert numbers["tokens_in"] == sum(call.tokens_in for call in calls)
    assert numbers["seconds"] == pytest.approx(sum(timing.seconds for timing in run.timings))
    assert numbers["dir"] == "here"


def test_a_run_ends_with_a_table_for_people(learnloop):
    done = learnloop(*DRPG, "--steps", 2)
    assert done.exit_code == 0
    assert "2 of 2, 0 failed" in done.stdout
    assert "drpg: step 2/2" in done.stderr


def test_without_out_a_run_is_named_after_its_spec(learnloop, tmp_path):
    learnloop("run", "house-rules", "-m", "zero-shot", "--model", "scripted/static", "-n", 1)
    (directory,) = find_runs(tmp_path)
    assert directory.name.startswith("house_rules-zero_shot-binary-seed0-")
    assert read_run(directory).info.spec["method"] == "zero_shot"


def test_parameters_reach_the_method_and_the_environment(learnloop, tmp_path):
    learnloop(*DRPG, "--param", "k=2", "--param", "writer=contrastive", "-n", 1, "--out", "here")
    spec = read_run(tmp_path / "here").info.spec
    assert spec["method_params"] == {"k": 2, "writer": "contrastive"}
    assert spec["environment_params"] == {"database": "shop"}


def test_a_budget_stops_a_run_and_resume_goes_on(learnloop, tmp_path):
    command = (*DRPG, "--steps", 5, "--out", "here")
    stopped = learnloop(*command, "--max-calls", 3, "--json")
    assert stopped.exit_code == 0
    assert "budget spent: max_calls = 3" in stopped.stderr
    assert "--resume goes on" in stopped.stderr
    assert json.loads(stopped.stdout)["steps"] < 5
    assert json.loads(learnloop(*command, "--resume", "--json").stdout)["steps"] == 5
    assert read_run(tmp_path / "here").info.complete


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "drgp"), "no method named 'drgp'; did you mean 'drpg'?"),
        (("--model", "lcal"), "no model named 'lcal'"),
        (("--model", "file:none.gguf"), "none.gguf"),
        (("--set", "databse=shop"), "has no parameter 'databse'; did you mean 'database'?"),
        (("--set", "database"), "--set wants NAME=VALUE, got 'database'"),
        (("--param", "kk=1"), "method drpg has no parameter 'kk'; did you mean 'k'?"),
        (("--param", "k=many"), "method drpg, parameter k: .*got 'many'"),
        (("--feedback", "coment"), "no feedback called 'coment'; did you mean 'comment'?"),
        (("--feedback", "comment=2"), "comment must be from 0 to 1"),
        (("--steps", "-4"), "steps: .*got -4"),
        (("--steps", "4000"), "steps: 4000 asked for, but house_rules has"),
        (("--seed", "-1"), "seed: .*got -1"),
        (("--max-calls", "0"), "max_calls must be positive, got 0"),
        (("--embedder", "wordlama"), "no embedder named 'wordlama'; did you mean 'wordllama'?"),
        (("--model", "http://127.0.0.1:9/v1"), "does not say which model"),
        (("--out", "/dev/null/run"), "give another --out"),
    ],
)
def test_bad_input_is_one_clear_line_and_leaves_nothing(learnloop, tmp_path, words, message):
    done = learnloop(*DRPG, "--out", "here", *words)
    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("learnloop: ")
    assert re.search(message, line), line
    assert os.listdir(tmp_path) == []


def test_an_unknown_environment_gets_a_suggestion(learnloop):
    done = learnloop("run", "house-ruls", "--method", "drpg", "--model", "scripted/static")
    assert done.exit_code == 2
    assert "no environment named 'house-ruls'; did you mean 'house_rules'?" in done.stderr


def test_a_run_is_neither_overwritten_nor_resumed_as_another(learnloop, tmp_path):
    learnloop(*DRPG, "--steps", 2, "--out", "here")
    before = (tmp_path / "here" / "steps.jsonl").read_bytes()
    again = learnloop(*DRPG, "--steps", 2, "--out", "here")
    other = learnloop(*DRPG, "--steps", 2, "--seed", 5, "--out", "here", "--resume")
    assert (again.exit_code, other.exit_code) == (2, 2)
    assert "pass --resume or another --out" in again.stderr
    assert "seed: was 0, now 5" in other.stderr
    assert (tmp_path / "here" / "steps.jsonl").read_bytes() == before


def test_help_has_an_example(learnloop):
    for command in ("run", "study", "list"):
        assert f"Example: learnloop {command}" in learnloop(command, "--help").stdout


INTERRUPTED = textwrap.dedent(
    """
    import os, signal, threading
    from pathlib import Path

    from learnloop.cli.main import main

    def interrupt():
        path = Path("here/steps.jsonl")
        while not path.exists() or path.read_bytes().count(b"\\n") < 5:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    threading.Thread(target=interrupt, daemon=True).start()
    main()
    """
)


def test_ctrl_c_says_how_to_go_on_and_going_on_gives_the_same(learnloop, tmp_path):
    command = [*map(str, DRPG), "--steps", "99", "--out"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *command, "here"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert "the same command with --resume goes on" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert 5 <= len(read_run(tmp_path / "here").steps) < 99
    assert learnloop(*command, "here", "--resume").exit_code == 0
    assert learnloop(*command, "there").exit_code == 0
    here, there = (tmp_path / name / "steps.jsonl" for name in ("here", "there"))
    assert here.read_bytes() == there.read_bytes()


@pytest.fixture
def hotpotqa(tmp_path, monkeypatch):
    """Three questions of our own as the rows of HotpotQA."""
    folder = tmp_path / "data" / "hotpotqa"
    folder.mkdir(parents=True)
    monkeypatch.setenv("LEARNLOOP_DATA", str(folder.parent))
    context = [["Rex", "Rex is a dog."], ["Tom", "Tom is a cat."]]
    rows = [
        {"id": name, "question": f"What is {name}?", "answer": answer, "context": context}
        for name, answer in (("Rex", "dog"), ("Tom", "cat"), ("he", "a pet"))
    ]
    (folder / "stream.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("words", "seed"), [((), 42), (("--seed", "7"), 7), (("-s", "0"), 0)])
def test_a_benchmark_comes_in_its_published_order_unless_told_otherwise(
    learnloop, tmp_path, hotpotqa, words, seed
):
    done = learnloop("run", "hotpotqa", "-m", "oracle", "--model", "none", "-o", "here", *words)
    assert done.exit_code == 0, done.stderr
    assert read_run(tmp_path / "here").info.spec["seed"] == seed


def test_a_subset_is_called_one_at_the_end_of_its_run(learnloop, hotpotqa):
    done = learnloop("run", "hotpotqa", "-m", "oracle", "--model", "none", "-o", "here")
    text = " ".join(done.stdout.split())
    assert "a subset: 3 of the 1,500 published queries; the method is told the right" in text
