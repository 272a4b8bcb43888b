import pytest

from learnloop.errors import DataError, RecordError
from learnloop.reports.load import load_runs


def test_runs_are_found_at_any_depth_and_each_once(runs):
    one = runs.write("zero_shot", [1.0])
    runs.write("drpg", [0.0, 1.0])
    found = load_runs([runs.folder.parent, one])
    assert [run.info.method for run in found] == ["zero_shot", "drpg"]
    assert [run.scores for run in found] == [(1.0,), (0.0, 1.0)]


def test_a_folder_without_runs_is_named(tmp_path):
    with pytest.raises(DataError, match=f"{tmp_path}.*learnloop run"):
        load_runs([tmp_path])


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="no folder .*nowhere"):
        load_runs([tmp_path / "nowhere"])


def test_a_line_that_cannot_be_read_is_named_with_its_file(runs):
    folder = runs.write("drpg", [1.0, 0.0])
    path = folder / "steps.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"step": "one"}\n')
    with pytest.raises(RecordError, match=r"steps\.jsonl, line 2"):
        runs.load()


def test_a_torn_last_line_is_not_a_step(runs):
    folder = runs.write("drpg", [1.0, 0.0])
    path = folder / "steps.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert runs.load()[0].scores == (1.0,)
