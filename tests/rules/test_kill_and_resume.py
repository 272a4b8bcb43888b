"""Rule 8: a run that was killed with SIGKILL, wherever, equals the uninterrupted one.

That a run goes on from steps cut off at any byte is in `tests/runner/test_conduct.py`.
"""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from learnloop.records.reader import read_run

CHILD = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[1])
    from conftest import Bench, dependent_reply

    from learnloop.llm.scripted import Scripted
    from learnloop.memory.embedders.wordllama import WordLlamaEmbedder

    directory, writer, where, when = Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
    count = 0

    def die_in_time(place):
        global count
        if place == where:
            if count == when:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

    def script(messages, options):
        die_in_time(options.role)
        return dependent_reply(messages, options)

    class Embedder(WordLlamaEmbedder):
        def embed(self, texts):
            die_in_time("embed")
            return super().embed(texts)

    Bench(embedder=Embedder()).run(
        directory,
        model=Scripted(script, name="m"),
        method_params={"writer": writer},
        resume=True,
    )
    """
)


@pytest.fixture
def child(tmp_path):
    """Run in another process that kills itself in the given place; return how it ended."""
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    tests = Path(__file__).parents[1]

    def run(directory, *, writer="rules", where="nowhere", when=0):
        words = [sys.executable, script, tests, directory, writer, where, str(when)]
        return subprocess.run(words, capture_output=True, check=False).returncode

    return run


def steps(directory):
    return (directory / "steps.jsonl").read_bytes()


@pytest.mark.parametrize("writer", ["rules", "contrastive"])
def test_rule_8_a_run_killed_four_times_equals_an_uninterrupted_one(bench, tmp_path, child, writer):
    bench.run(tmp_path / "whole", method_params={"writer": writer})
    killed = tmp_path / "killed"
    # Counted from the start of each process, which asks a model only what was not asked before.
    for where, when in [("answer", 0), ("policy", 1), ("embed", 4), ("answer", 0)]:
        assert child(killed, writer=writer, where=where, when=when) == -signal.SIGKILL
    assert len(read_run(killed).steps) < 6
    assert child(killed, writer=writer) == 0
    assert steps(killed) == steps(tmp_path / "whole")
    assert read_run(killed).info.complete
    assert len(read_run(killed).timings) == 6


def test_rule_8_a_run_in_another_process_equals_one_in_this(bench, tmp_path, child):
    # Another process hashes texts otherwise, so a set that reached a prompt would show here.
    bench.run(tmp_path / "here", method_params={"writer": "contrastive"})
    assert child(tmp_path / "there", writer="contrastive") == 0
    assert steps(tmp_path / "there") == steps(tmp_path / "here")
