import io
import shutil
import tarfile

import pytest

from learnloop.errors import RecordError
from learnloop.records.archive import Packed, pack, read_archive
from learnloop.records.reader import read_run
from learnloop.records.schema import RunInfo, StepRecord, StepTiming
from learnloop.records.writer import RunWriter


def make_run(folder, name, *, label="P", complete=True, score=1.0, seconds=0.5):
    info = RunInfo(
        run_id=name,
        spec={"environment": "parity", "label": label},
        spec_hash=f"hash of {name}",
        environment_id="parity-v1",
        task="parity",
        metric="accuracy",
        method="gated_prompt",
        model="none",
        model_sha256=None,
        packages={},
        machine={},
        complete=complete,
    )
    with RunWriter(folder / name) as writer:
        writer.write_info(info)
        for step in range(3):
            writer.append_timing(StepTiming(step=step, seconds=seconds))
            writer.append_step(
                StepRecord(step=step, query_id="q", query="", group="", answer="", score=score)
            )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def study(tmp_path):
    for number in range(3):
        make_run(tmp_path / "study", f"run-{number}", label=f"P {number % 2}")
    make_run(tmp_path / "study", "run-3", complete=False)
    return tmp_path / "study"


def test_complete_runs_are_packed_and_read_back_as_they_were(study, tmp_path):
    archive = tmp_path / "archive"
    assert pack(study, archive) == Packed(added=3, known=0, unfinished=1)
    assert sorted(contents(archive)) == ["P+0.tar.xz", "P+1.tar.xz"]
    runs = read_archive(archive)
    assert sorted(runs) == ["run-0", "run-1", "run-2"]
    for name, run in runs.items():
        there, packed = read_run(study / name), run.read()
        assert (packed.info, packed.steps, packed.timings) == (
            there.info,
            there.steps,
            there.timings,
        )


def test_packing_again_changes_no_byte_and_no_time(study, tmp_path):
    archive = tmp_path / "archive"
    pack(study, archive)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in archive.iterdir()}
    assert pack(study, archive) == Packed(added=0, known=3, unfinished=1)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in archive.iterdir()}
    assert before == after


def test_the_same_runs_make_the_same_bytes_in_whatever_order_they_come(study, tmp_path):
    pack(study, tmp_path / "at once")
    for number in (2, 0, 1):
        pack(study / f"run-{number}", tmp_path / "one by one")
    assert contents(tmp_path / "at once") == contents(tmp_path / "one by one")


def test_runs_that_are_in_the_archive_alone_stay_in_it(study, tmp_path):
    archive = tmp_path / "archive"
    pack(study, archive)
    shutil.rmtree(study / "run-0")
    make_run(study, "run-4", label="P 0")
    assert pack(study, archive) == Packed(added=1, known=2, unfinished=1)
    assert sorted(read_archive(archive)) == ["run-0", "run-1", "run-2", "run-4"]


def test_a_run_that_was_made_again_at_another_pace_is_the_same_run(study, tmp_path):
    archive = tmp_path / "archive"
    pack(study, archive)
    before = contents(archive)
    shutil.rmtree(study / "run-0")
    make_run(study, "run-0", label="P 0", seconds=9.0)
    pack(study, archive)
    assert contents(archive) == before


def test_another_run_under_the_same_name_is_refused_and_nothing_is_changed(study, tmp_path):
    archive = tmp_path / "archive"
    pack(study, archive)
    before = contents(archive)
    shutil.rmtree(study / "run-0")
    make_run(study, "run-0", label="P 0", score=0.0)
    make_run(study, "run-5")
    with pytest.raises(RecordError, match="'run-0' has other steps in .*nothing was changed"):
        pack(study, archive)
    assert contents(archive) == before


def test_a_run_that_is_there_twice_is_packed_once_and_refused_if_the_two_differ(study, tmp_path):
    shutil.copytree(study / "run-0", study / "again" / "run-0")
    assert pack(study, tmp_path / "archive") == Packed(added=3, known=0, unfinished=1)
    shutil.rmtree(study / "again")
    make_run(study / "again", "run-0", label="P 0", score=0.0)
    with pytest.raises(RecordError, match="'run-0' has other steps in .*study'; nothing was"):
        pack(study, tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-200] + bytes(200),
        lambda data: b"",
        lambda data: b"no archive at all",
    ],
    ids=["cut off", "zeros at the end", "empty", "text"],
)
def test_a_damaged_archive_is_a_clear_error_and_is_left_as_it_is(study, tmp_path, damage):
    archive = tmp_path / "archive"
    pack(study, archive)
    path = archive / "P+0.tar.xz"
    path.write_bytes(damage(path.read_bytes()))
    before = contents(archive)
    make_run(study, "run-6", label="P 0")
    with pytest.raises(RecordError, match="is damaged.*nothing was changed"):
        pack(study, archive)
    assert contents(archive) == before


def member(name, kind=tarfile.REGTYPE, target=""):
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = target
    return made


@pytest.mark.parametrize(
    "entry",
    [
        member("../run-0/run.json"),
        member("/etc/run.json"),
        member("run-0/../../run.json"),
        member("run-0/run.json", tarfile.SYMTYPE, "/etc/passwd"),
        member("run-0/run.json", tarfile.LNKTYPE, "../x"),
        member("run-0", tarfile.DIRTYPE),
        member("run-0/memory.sqlite"),
        member(".git/run.json"),
    ],
    ids=lambda entry: f"{entry.name} {entry.type.decode()}",
)
def test_anything_but_files_of_runs_is_refused(tmp_path, entry):
    with tarfile.open(tmp_path / "x.tar.xz", "w:xz") as tar:
        tar.addfile(entry, io.BytesIO())
    with pytest.raises(RecordError, match="is damaged"):
        read_archive(tmp_path)


def test_a_run_of_which_a_file_is_missing_is_refused(study, tmp_path):
    with tarfile.open(tmp_path / "x.tar.xz", "w:xz") as tar:
        tar.add(study / "run-0" / "run.json", "run-0/run.json")
    with pytest.raises(RecordError, match="'run-0' in .* is no whole run"):
        read_archive(tmp_path)


def test_an_archive_that_is_not_there_yet_has_no_runs(tmp_path):
    assert read_archive(tmp_path / "none") == {}
