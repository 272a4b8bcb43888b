"""Rule 8: a run that was killed with SIGKILL, wherever, equals the uninterrupted one.

That a run goes on from steps cut off at any byte is in `tests/runner/test_conduct.py`.
"""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from learnloop.records.reader import read_run

CHILD = textwrap.dedent(
    """
    import json, os, signal, sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[1])
    from conftest import Bench, dependent_reply

    from learnloop.llm.scripted import Scripted
    from learnloop.memory.embedders.wordllama import WordLlamaEmbedder

    directory, kind, where, when = Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
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
        resume=True,
        **json.loads(kind),
    )
    """
)


@pytest.fixture
def child(tmp_path):
    """Run in another process that kills itself in the given place; return how it ended."""
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    tests = Path(__file__).parents[1]

    def run(directory, *, kind, where="nowhere", when=0):
        words = [sys.executable, script, tests, directory, json.dumps(kind), where, str(when)]
        return subprocess.run(words, capture_output=True, check=False).returncode

    return run


def steps(directory):
    return (directory / "steps.jsonl").read_bytes()


RULES = {"method": "drpg", "method_params": {"writer": "rules"}}
CONTRASTIVE = {"method": "drpg", "method_params": {"writer": "contrastive"}}
GATED = {"method": "gated_prompt", "method_params": {"gate": "proportional"}}
# Counted from the start of each process, which asks a model only what was not asked before.
BESIDE = {
    "rules": (RULES, [("policy", 1), ("embed", 4)]),
    "contrastive": (CONTRASTIVE, [("policy", 1), ("embed", 4)]),
    "gated_prompt": (GATED, [("edit", 0), ("edit", 1)]),
}


@pytest.mark.parametrize(("kind", "places"), BESIDE.values(), ids=BESIDE)
def test_rule_8_a_run_killed_four_times_equals_an_uninterrupted_one(
    bench, tmp_path, child, kind, places
):
    bench.run(tmp_path / "whole", **kind)
    killed = tmp_path / "killed"
    for where, when in [("answer", 0), *places, ("answer", 0)]:
        assert child(killed, kind=kind, where=where, when=when) == -signal.SIGKILL
    assert len(read_run(killed).steps) < 6
    assert child(killed, kind=kind) == 0
    assert steps(killed) == steps(tmp_path / "whole")
    assert read_run(killed).info.complete
    assert len(read_run(killed).timings) == 6


@pytest.mark.parametrize("kind", [CONTRASTIVE, GATED], ids=["contrastive", "gated_prompt"])
def test_rule_8_a_run_in_another_process_equals_one_in_this(bench, tmp_path, child, kind):
    # Another process hashes texts otherwise, so a set that reached a prompt would show here.
    bench.run(tmp_path / "here", **kind)
    assert child(tmp_path / "there", kind=kind) == 0
    assert steps(tmp_path / "there") == steps(tmp_path / "here")
