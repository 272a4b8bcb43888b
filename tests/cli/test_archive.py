"""Packing a study, going on from the archive, and reporting from it."""

import json

import pytest

from learnloop.records.reader import find_runs

STUDY = """
name = "gates"
model = "none"
steps = 8
seeds = [1, 2]
environments = ["parity"]
methods = [
  { name = "gated_prompt", label = "CUSUM", params = { gate = "cusum", editor = "obedient" } },
]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_study_goes_on_from_an_archive_of_another_one(learnloop, file):
    learnloop("study", file, "--out", "first")
    packed = learnloop("archive", "first", "packed", "--json")
    assert json.loads(packed.stdout) == {"dir": "packed", "added": 2, "known": 0, "unfinished": 0}
    file.write_text(STUDY.replace("[1, 2]", "[1, 2, 3]"))
    done = learnloop("study", file, "--out", "second", "--continue-from", "packed", "--json")
    assert done.exit_code == 0
    assert "2 finished runs taken over from packed" in done.stderr
    assert [run["steps"] for run in json.loads(done.stdout)["runs"]] == [8, 8, 8]
    assert "1 runs added, 2 were there" in learnloop("archive", "second", "packed").stdout


def test_a_damaged_archive_is_one_clear_line_and_nothing_is_lost(learnloop, file, tmp_path):
    learnloop("study", file, "--out", "first")
    learnloop("archive", "first", "packed")
    (path,) = (tmp_path / "packed").iterdir()
    path.write_bytes(path.read_bytes()[:-50])
    for words in (
        ("study", file, "--out", "second", "--continue-from", "packed"),
        ("archive", "first", "packed"),
        ("report", "packed"),
    ):
        done = learnloop(*words)
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert "is damaged" in line
    assert len(find_runs(tmp_path / "first")) == 2
    assert not (tmp_path / "second").exists()


def test_a_report_is_made_of_an_archive_as_of_the_runs_in_it(learnloop, file):
    learnloop("study", file, "--out", "first")
    learnloop("archive", "first", "packed")
    unpacked = learnloop("report", "first", "--json", "--out", "a")
    packed = learnloop("report", "packed", "--json", "--out", "b")
    both = learnloop("report", "packed", "first", "--json", "--out", "c")
    assert unpacked.exit_code == 0
    assert packed.stdout == unpacked.stdout == both.stdout


def test_a_folder_without_runs_cannot_be_packed(learnloop, tmp_path):
    done = learnloop("archive", tmp_path, "packed")
    assert done.exit_code == 2
    assert "no run at or under" in done.stderr
    assert not (tmp_path / "packed").exists()
