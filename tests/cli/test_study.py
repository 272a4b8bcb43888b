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
    assert done.stdout.count("3 steps left, 3 calls") == 2
    assert done.stdout.count("3 steps left, about 4 calls (3 to 6)") == 2
    assert "4 runs in runs/two-methods, about 14 calls (12 to 18) left" in done.stdout
    assert "out, US$ 0.00\n" in done.stdout
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
    assert {run["state"] for run in plan["plan"]} >= {"new", "complete"}
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
    left = {run["run"].split("-")[1]: run["calls"] for run in plan["plan"] if run["steps_left"]}
    assert left == {"zero_shot": 3, "rules": 6}


DETERMINED = """
model = "scripted/static"
environments = "parity"
steps = 5
seeds = [0, 1]
methods = [
    "zero_shot",
    "self_stream_icl",
    { name = "drpg", label = "published", params = { variant = "published", k = 16 } },
    { name = "gated_prompt", params = { gate = "never" } },
]
"""


def test_the_calls_that_a_dry_run_tells_are_those_on_record(learnloop, tmp_path):
    path = tmp_path / "determined.toml"
    path.write_text(DETERMINED)
    told = json.loads(learnloop("study", path, "--dry-run", "--json").stdout)
    assert learnloop("study", path).exit_code == 0
    made = {
        run.info.run_id: sum(len(step.calls) for step in run.steps)
        for run in map(read_run, find_runs(tmp_path))
    }
    assert {row["run"]: row["calls"] for row in told["plan"]} == made
    # Two seeds of five steps: 5, 5, 5 answers and 4 policies, and none under a prompt with a form.
    assert (told["runs"], told["calls"]) == (8, sum(made.values())) == (8, 2 * (5 + 5 + 9 + 0))
    assert told["calls_min"] == told["calls_max"] == told["calls"]
    assert (told["usd"], told["unpriced"], told["keys_missing"]) == (0.0, [], [])
    after = json.loads(learnloop("study", path, "--dry-run", "--json").stdout)
    assert (after["runs"], after["calls"], after["tokens"]) == (8, 0, 0)


HOSTED = """
name = "hosted"
methods = ["zero_shot", { name = "self_refine", params = { max_tokens = 1024 } }]
environments = ["spider", "hotpotqa-published"]
models = ["gemini/gemini-2.0-flash", "nim/meta/llama-3.3-70b-instruct", "ours/m"]

[endpoints.ours]
base_url = "http://127.0.0.1:9/v1"
"""


def test_a_dry_run_needs_neither_keys_nor_data_and_says_what_it_does_not_know(
    learnloop, tmp_path, monkeypatch
):
    for variable in ("NVIDIA_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path / "nothing"))
    path = tmp_path / "hosted.toml"
    path.write_text(HOSTED)
    told = json.loads(learnloop("study", path, "--dry-run", "--json").stdout)
    queries = 2147 + 1500  # as published
    assert told["runs"] == 2 * 2 * 3
    assert (told["calls_min"], told["calls_max"]) == (3 * queries * 3, 3 * queries * 10)
    assert told["notes"]["spider"] == "data not here: published length assumed"
    assert told["keys_missing"] == ["GEMINI_API_KEY", "NVIDIA_API_KEY"]
    assert told["unpriced"] == ["nim/meta/llama-3.3-70b-instruct", "ours/m"]
    assert told["usd"] is None
    assert told["usd_known"] > 0
    words = learnloop("study", path, "--dry-run").stdout
    assert "spider: data not here: published length assumed" in words
    assert "not set: GEMINI_API_KEY" in words
    assert "and the unknown price of 2 models" in words
    failed = learnloop("study", path)
    assert failed.exit_code == 2
    assert "learnloop data get spider" in failed.stderr


def test_many_runs_are_told_by_method_environment_and_model(learnloop, file, tmp_path):
    file.write_text(STUDY.replace("[0, 1]", '"1-25"'))
    lines = learnloop("study", file, "--dry-run").stdout.splitlines()
    (row,) = [line.split() for line in lines if line.startswith("zero_shot")]
    assert row[:4] == ["zero_shot", "25", "75", "75"]
    assert "50 runs in runs/two-methods, about 175 calls (150 to 225) left" in lines


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("base_url", "base_urll", "endpoints.ours.base_url"),
        ("http://", "http://user:secret@", "endpoints.ours.base_url"),
        ("[endpoints.ours]", "[endpoints.openai]", "cannot be called 'openai'"),
    ],
)
def test_a_bad_endpoint_is_one_clear_line(learnloop, tmp_path, old, new, message):
    path = tmp_path / "hosted.toml"
    path.write_text(HOSTED.replace(old, new))
    done = learnloop("study", path, "--dry-run")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert message in line


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
