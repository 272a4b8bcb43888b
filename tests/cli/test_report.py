import json

import pytest
from typer.testing import CliRunner

from learnloop.cli.main import app
from learnloop.records.encoding import INFO, STEP, encode
from learnloop.records.schema import CallRecord, RunInfo, StepRecord


@pytest.fixture
def folder(tmp_path):
    """Write one run of two steps, one of them right."""
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    info = RunInfo(
        run_id="one",
        spec={"method": "drpg", "seed": 3, "feedback": "binary"},
        spec_hash="ab" * 32,
        environment_id="house_rules-v1",
        task="house_rules",
        metric="execution accuracy",
        method="drpg",
        model="local",
        model_sha256=None,
        packages={},
        machine={},
    )
    (run / "run.json").write_bytes(encode(INFO, info))
    call = CallRecord(role="answer", model="local", tokens_in=7, tokens_out=2)
    steps = [
        StepRecord(
            step=n, query_id=f"q{n}", query="?", group="", answer="", score=float(n), calls=(call,)
        )
        for n in range(2)
    ]
    (run / "steps.jsonl").write_bytes(b"".join(encode(STEP, one) for one in steps))
    return run.parent


def invoke(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_it_writes_the_page_and_says_where(folder, tmp_path):
    out = tmp_path / "out"
    result = invoke(folder, "--out", out)
    assert result.exit_code == 0
    assert result.stdout == f"{out / 'index.html'} shows 1 run\n"
    assert (out / "index.html").stat().st_size > 0


def test_json_is_the_table(folder, tmp_path):
    result = invoke(folder, "--out", tmp_path / "out", "--json")
    (row,) = json.loads(result.stdout)
    assert (row["method"], row["feedback"], row["seeds"]) == ("drpg", "binary", [3])
    assert (row["accuracy"], row["second_half"], row["calls"]) == (0.5, 1.0, 2)
    assert (row["tokens_in"], row["tokens_out"], row["failed"]) == (14, 4, 0)


def test_a_folder_without_runs_is_one_clear_line_and_exit_code_2(tmp_path):
    result = invoke(tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert str(tmp_path) in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_unreadable_record_names_file_and_line(folder, tmp_path):
    path = folder / "one" / "steps.jsonl"
    path.write_bytes(b"not json\n" + path.read_bytes())
    result = invoke(folder, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "steps.jsonl, line 1" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def control_folder(tmp_path):
    """Write one run of a control task, of two steps, one of them right."""
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    info = RunInfo(
        run_id="one",
        spec={"method": "gated_prompt", "label": "P", "seed": 3, "feedback": "binary,noise=0.1"},
        spec_hash="ab" * 32,
        environment_id="parity-v1",
        task="parity",
        metric="accuracy",
        method="gated_prompt",
        model="local",
        model_sha256=None,
        packages={},
        machine={},
        complete=True,
    )
    (run / "run.json").write_bytes(encode(INFO, info))
    steps = [
        StepRecord(
            step=n, query_id=f"q{n}", query="4", group="", answer="", gold="Red", score=float(n)
        )
        for n in range(2)
    ]
    (run / "steps.jsonl").write_bytes(b"".join(encode(STEP, one) for one in steps))
    return run.parent


def test_json_has_the_rows_of_control_tasks(control_folder, tmp_path):
    result = invoke(control_folder, "--out", tmp_path / "out", "--json")
    (row,) = json.loads(result.stdout)
    assert (row["arm"], row["noise"], row["metric"], row["mean"]) == ("P", 0.1, "accuracy", 0.5)


def test_markdown_prints_the_tables_of_control_tasks(control_folder, tmp_path):
    result = invoke(control_folder, "--out", tmp_path / "out", "--markdown")
    assert result.stdout.startswith("## parity-v1\n")
    assert "| P | 50.0 | 0.00 | 0.00 |" in result.stdout


def test_markdown_prints_the_tables_of_streams_of_data(folder, tmp_path):
    result = invoke(folder, "--out", tmp_path / "out", "--markdown")
    assert result.exit_code == 0
    assert result.stdout.startswith("## 1 method on 1 benchmark with 1 model\n")
    assert "| drpg | 50.0 (1 × 2) \\* |" in result.stdout
    assert "- \\* drpg, house_rules-v1, local: seed 3 incomplete: 2 steps so far." in result.stdout
