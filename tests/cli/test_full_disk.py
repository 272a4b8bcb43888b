"""A full disk, stood for by a limit on the size of files that a process may write."""

import resource
import subprocess
import sys

COMMAND = (
    "run house_rules --method zero_shot --set database=shop --model scripted/static --steps 99 "
    "--out run"
)
PROGRAM = [sys.executable, "-c", "from learnloop.cli.main import main; main()"]
LIMIT = 90_000
"""More than the stream's database takes, less than its 99 steps on record."""


def learnloop(folder, *words, limit=resource.RLIM_INFINITY):
    def obey():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    return subprocess.run(
        [*PROGRAM, *COMMAND.split(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=obey,
    )


def test_a_run_that_met_a_full_disk_goes_on_when_there_is_room(tmp_path):
    for name in ("whole", "full"):
        (tmp_path / name).mkdir()
    assert learnloop(tmp_path / "whole").returncode == 0
    done = learnloop(tmp_path / "full", limit=LIMIT)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("learnloop: "), last
    assert "disk" in last or "free space" in last, last
    assert "Traceback" not in done.stderr
    recorded = (tmp_path / "full" / "run" / "steps.jsonl").read_bytes()
    whole = (tmp_path / "whole" / "run" / "steps.jsonl").read_bytes()
    assert recorded.endswith(b"\n")
    assert whole.startswith(recorded)
    assert 10 < recorded.count(b"\n") < 99
    assert learnloop(tmp_path / "full", "--resume").returncode == 0
    assert (tmp_path / "full" / "run" / "steps.jsonl").read_bytes() == whole
