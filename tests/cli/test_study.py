import json
import re

import pytest

from learnloop.records.reader import find_runs, read_run

STUDY = """
name = "two methods"
model = "scripted/static"
steps = 3
feedback = "comment"
seeds = [0, 1]
methods = ["zero-shot", { name = "drpg", label = "rules", params = { writer = "rules" } }]
environments = [{ name = "house-rules", params = { database = "shop" } }]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def contents(directory):
    return {str(path): path.read_bytes() for path in directory.rglob("steps.jsonl")}


def test_a_dry_run_prints_the_runs_and_writes_nothing(learnloop, file, tmp_path):
    done = learnloop("study", file, "--dry-run")
    assert done.exit_code == 0
    assert done.stdout.count("3 steps left, at least 3 calls") == 4
    assert "4 runs in runs/two-methods, at least 12 calls left" in done.stdout
    assert list(tmp_path.iterdir()) == [file]


def test_a_study_makes_its_runs_over_one_cache_of_responses(learnloop, file, tmp_path):
    done = learnloop("study", file, "--jobs", 2, "--json")
    assert done.exit_code == 0
    assert {run["steps"] for run in json.loads(done.stdout)["runs"]} == {3}
    directory = tmp_path / "runs" / "two-methods"
    runs = [read_run(path) for path in find_runs(directory)]
    assert len(runs) == 4
    assert all(run.info.complete for run in runs)
    assert [path.name for path in directory.glob("*.sqlite")] == ["responses.sqlite"]


def test_methods_of_one_seed_see_the_same_queries(learnloop, file, tmp_path):
    learnloop("study", file)
    runs = [read_run(path) for path in find_runs(tmp_path)]
    streams = {
        (run.info.spec["seed"], run.info.method): [step.query_id for step in run.steps]
        for run in runs
    }
    assert streams[0, "drpg"] == streams[0, "zero_shot"]
    assert streams[1, "drpg"] == streams[1, "zero_shot"]
    assert streams[0, "drpg"] != streams[1, "drpg"]


def test_the_same_command_goes_on_where_a_budget_stopped_it(learnloop, file, tmp_path):
    learnloop("study", file, "--out", "whole")
    stopped = learnloop("study", file, "--out", "parts", "--max-calls", 5)
    assert stopped.exit_code == 0
    assert "budget spent: max_calls = 5" in stopped.stderr
    assert "the same command goes on" in stopped.stderr
    plan = json.loads(learnloop("study", file, "--out", "parts", "--dry-run", "--json").stdout)
    assert {run["state"] for run in plan["runs"]} >= {"new", "complete"}
    done = learnloop("study", file, "--out", "parts")
    assert done.exit_code == 0
    whole, parts = contents(tmp_path / "whole"), contents(tmp_path / "parts")
    assert sorted(whole.values()) == sorted(parts.values())


def test_complete_runs_are_left_as_they_are(learnloop, file, tmp_path):
    learnloop("study", file)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")}
    assert learnloop("study", file).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")} == times


def test_what_runs_took_is_the_estimate_for_those_to_come(learnloop, file, tmp_path):
    # Only seed 0 is there at first; a step of the rules writer makes two calls with this model.
    path = tmp_path / "one.toml"
    path.write_text(STUDY.replace("[0, 1]", "[0]"))
    learnloop("study", path, "--out", "here")
    plan = json.loads(learnloop("study", file, "--out", "here", "--dry-run", "--json").stdout)
    left = {
        run["run"].split("-")[1]: run["calls_left"] for run in plan["runs"] if run["steps_left"]
    }
    assert left == {"zero_shot": 3, "rules": 6}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"zero-shot"', '"zero-shto"', "no method named 'zero-shto'; did you mean 'zero_shot'"),
        ('writer = "rules"', 'writer = "rule"', "method drpg, parameter writer"),
        ("steps = 3", "steps = -3", "steps: .*-3"),
        ("seeds", "seads", "grids.0.seads"),
        ('"comment"', '"coment"', "no feedback called 'coment'"),
    ],
)
def test_a_bad_study_is_one_clear_line_and_leaves_nothing(
    learnloop, file, tmp_path, old, new, message
):
    file.write_text(STUDY.replace(old, new))
    done = learnloop("study", file)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert re.search(message, line), line
    assert list(tmp_path.iterdir()) == [file]


def test_a_run_that_fails_does_not_keep_the_others_from_going_on(learnloop, file):
    file.write_text(
        STUDY.replace('model = "scripted/static"', 'models = ["scripted/none", "scripted/static"]')
    )
    done = learnloop("study", file, "--json")
    assert done.exit_code == 2
    runs = json.loads(done.stdout)["runs"]
    assert sorted(run["steps"] for run in runs) == [0, 0, 0, 0, 3, 3, 3, 3]
    assert "no scripted model named 'none'" in done.stderr
