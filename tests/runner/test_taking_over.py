import json
import shutil
import tarfile

import pytest

from learnloop.errors import RecordError, ResumeError
from learnloop.records.archive import pack
from learnloop.records.writer import INFO_FILE
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.resources import Resources
from learnloop.runner.spec import make_spec
from learnloop.runner.sweep import plan, sweep
from learnloop.runner.taking_over import take_over
from learnloop.settings import Settings


def specs(seeds):
    return [
        make_spec(
            environment="parity",
            method="gated_prompt",
            method_params={"gate": "cusum", "editor": "obedient"},
            model="none",
            steps=8,
            seed=seed,
        )
        for seed in seeds
    ]


class Silent:
    def stepped(self, planned, outcome):
        pass

    def ended(self, planned, why):
        assert why is None


def make(directory, seeds):
    sweep(
        plan(specs(seeds), directory),
        directory=directory,
        resources=Resources(settings=Settings(cache=directory)),
        spending=Spending(Budget(), clock=lambda: 0.0),
        jobs=1,
        watcher=Silent(),
    )


@pytest.fixture
def archive(tmp_path):
    make(tmp_path / "first", [1, 2])
    pack(tmp_path / "first", tmp_path / "archive")
    return tmp_path / "archive"


def edit(archive, change):
    """Pack one run anew with another `run.json`."""
    (path,) = archive.iterdir()
    folder = archive.parent / "unpacked"
    with tarfile.open(path) as tar:
        tar.extractall(folder, filter="data")
    for file in folder.rglob(INFO_FILE):
        info = json.loads(file.read_text())
        change(info)
        file.write_text(json.dumps(info))
    with tarfile.open(path, "w:xz") as tar:
        for file in sorted(folder.rglob("*.json*")):
            tar.add(file, str(file.relative_to(folder)))


def test_finished_runs_are_taken_over_and_count_as_complete(archive, tmp_path):
    wanted = specs([1, 2, 3])
    assert take_over(wanted, archive=archive, directory=tmp_path / "second") == 2
    states = [run.state for run in plan(wanted, tmp_path / "second")]
    assert states == ["complete", "complete", "new"]
    for spec in wanted[:2]:
        for name in ("run.json", "steps.jsonl", "timings.jsonl"):
            first, second = (tmp_path / part / spec.run_id / name for part in ("first", "second"))
            assert first.read_bytes() == second.read_bytes()


def test_what_is_there_already_stays_as_it_is(archive, tmp_path):
    take_over(specs([1]), archive=archive, directory=tmp_path / "second")
    steps = tmp_path / "second" / specs([1])[0].run_id / "steps.jsonl"
    steps.write_bytes(b"")
    assert take_over(specs([1, 2]), archive=archive, directory=tmp_path / "second") == 1
    assert steps.read_bytes() == b""


def test_a_study_that_went_on_packs_to_the_same_bytes_as_one_made_at_once(archive, tmp_path):
    take_over(specs([1, 2]), archive=archive, directory=tmp_path / "second")
    make(tmp_path / "second", [1, 2, 3])
    shutil.copytree(archive, tmp_path / "other")
    pack(tmp_path / "second", archive)
    shutil.rmtree(tmp_path / "first")
    pack(tmp_path / "second", tmp_path / "other")
    (one,), (other,) = archive.iterdir(), (tmp_path / "other").iterdir()
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda info: info["spec"].update(steps=9), "steps: was 9, now 8"),
        (lambda info: info.update(spec_hash="0" * 64), "was it edited"),
        (lambda info: info.update(complete=False), "not the whole run"),
    ],
)
def test_a_run_that_is_not_what_its_name_says_is_refused(archive, tmp_path, change, message):
    edit(archive, change)
    with pytest.raises(ResumeError, match=message):
        take_over(specs([1, 2]), archive=archive, directory=tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_an_archive_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(RecordError, match="no archive in .*`learnloop archive` makes one"):
        take_over(specs([1]), archive=tmp_path / "none", directory=tmp_path)
