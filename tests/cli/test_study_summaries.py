"""Studies without a model, whose runs leave a line each, from the command line."""

import json
import os
import signal
import subprocess
import sys

import pytest

from learnloop.records.reader import find_runs, read_run, read_summaries
from learnloop.records.run_summary import summarise_run

STUDY = """
name = "gates"
model = "none"
keep = "summaries"
seeds = "1-{seeds}"
environments = ["parity"]
feedback = ["binary", "binary,noise=0.2"]
methods = [
  {{ name = "gated_prompt", label = "No Edit", params.gate = "never", params.editor = "majority" }},
  {{ name = "gated_prompt", label = "CUSUM", params.gate = "cusum", params.editor = "obedient" }},
]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(seeds=3))
    return path


def test_every_run_leaves_a_line_and_the_first_seed_its_steps_too(learnloop, file, tmp_path):
    done = learnloop("study", file, "--jobs", 1)
    assert done.exit_code == 0, done.stderr
    assert "CUSUM" in done.stdout
    directory = tmp_path / "runs" / "gates"
    summaries = {summary.run_id: summary for summary in read_summaries(directory)}
    assert len(summaries) == 3 * 2 * 2
    runs = [read_run(path) for path in find_runs(directory)]
    assert len(runs) == 2 * 2
    for run in runs:
        assert run.info.spec["seed"] == 1
        assert summaries[run.info.run_id] == summarise_run(run.info, run.steps)


def test_the_table_is_the_mean_over_the_seeds(learnloop, file, tmp_path):
    content = json.loads(learnloop("study", file, "--jobs", 1, "--json").stdout)
    summaries = read_summaries(tmp_path / "runs" / "gates")
    for arm in content["arms"]:
        runs = [
            summary
            for summary in summaries
            if (summary.label, summary.feedback) == (arm["label"], arm["feedback"])
        ]
        assert arm["runs"] == len(runs) == 3
        assert arm["accuracy"] == pytest.approx(sum(run.accuracy for run in runs) / 3)
        assert arm["editor_calls"] == pytest.approx(sum(run.editor_calls for run in runs) / 3)
    assert len(content["arms"]) == 4


def test_a_dry_run_counts_the_lines_and_writes_nothing(learnloop, file, tmp_path):
    done = learnloop("study", file, "--dry-run")
    assert "12 runs that leave a summary each, 0 are made" in done.stdout
    assert list(tmp_path.iterdir()) == [file]
    learnloop("study", file, "--jobs", 1)
    again = json.loads(learnloop("study", file, "--dry-run", "--json").stdout)
    assert again["summaries"] == {"runs": 12, "done": 12}


def test_runs_that_fail_are_counted_by_reason_and_end_with_code_2(learnloop, file, tmp_path):
    file.write_text(file.read_text().replace('"obedient"', '"rewriter"'))
    done = learnloop("study", file, "--jobs", 1)
    assert done.exit_code == 2
    assert "and 5 more: failed: InputError: this run has the model 'none'" in done.stderr
    assert {one.label for one in read_summaries(tmp_path / "runs" / "gates")} == {"No Edit"}


def test_a_run_without_a_model_that_calls_one_is_refused_in_one_line(learnloop):
    done = learnloop("run", "parity", "--method", "zero_shot", "--model", "none", "--out", "x")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()[-1:]
    assert "this run has the model 'none' and called a model for the role 'answer'" in line


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_was_ended_goes_on_and_loses_and_doubles_nothing(
    learnloop, tmp_path, ended_by
):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(seeds=100))
    lines = tmp_path / "ended" / "summaries.jsonl"
    words = [sys.executable, "-c", "from learnloop.cli.main import main; main()"]
    process = subprocess.Popen(
        [*words, "study", file, "--out", lines.parent, "--jobs", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    for _ in range(6):  # a line is said for every tenth of the runs
        process.stderr.readline()
    os.killpg(process.pid, ended_by) if ended_by == signal.SIGINT else process.kill()
    said = process.communicate()[1].decode()
    assert "Traceback" not in said
    assert process.returncode in (130, -signal.SIGKILL, 0), said
    before = lines.read_bytes()
    learnloop("study", file, "--out", "ended", "--jobs", 1)
    learnloop("study", file, "--out", "whole", "--jobs", 1)
    assert lines.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    ended, whole = (read_summaries(tmp_path / name) for name in ("ended", "whole"))
    assert len({summary.run_id for summary in ended}) == len(ended) == 400
    assert ended == whole


def test_settings_of_one_environment_are_not_averaged_together(learnloop, file):
    paths = '[{ name = "track", params = { path = ["sinusoid", "rectangular"] } }]'
    file.write_text(file.read_text().replace('["parity"]', paths))
    content = json.loads(learnloop("study", file, "--jobs", 1, "--json").stdout)
    assert {(arm["environment"], arm["runs"]) for arm in content["arms"]} == {
        ("track, path sinusoid", 3),
        ("track, path rectangular", 3),
    }
