import errno
import os
import resource
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import RecordError
from learnloop.records.encoding import STEP, decode, encode, first_difference
from learnloop.records.lines import LineFile, whole_lines, write_atomically
from learnloop.records.schema import CallRecord, StepRecord, StepTiming
from learnloop.records.writer import RunWriter
from learnloop.types import Bullet, Decision, Event, Feedback, Policy, Source


def step(number, **fields):
    given_fields = {
        "query_id": f"q{number}",
        "query": "?",
        "group": "",
        "answer": "a",
        "score": 1.0,
    }
    return StepRecord(step=number, **(given_fields | fields))


FULL = step(
    7,
    query="Wie viele Kunden?\nÄ \u2028 \x00",
    feedback=(Feedback(id="f", target_id="q7", correct=False, source=Source(kind="user", id="u")),),
    decision=Decision(opened=True, signal=0.5, terms={"p": 0.1, "i": 0.4}),
    policy=Policy(bullets=(Bullet(text="Use euros.", sources=("q1",), helped=1),), writer="rules"),
    events=(Event(kind="cut", text="one", refs=("q7",)),),
    calls=(CallRecord(role="answer", model="m", tokens_in=3, tokens_out=4, cost=0.0),),
)


def test_a_record_is_one_line_and_reads_back_equal():
    line = encode(STEP, FULL)
    assert line.count(b"\n") == 1
    assert decode(STEP, line, where="here") == FULL


def test_half_a_character_does_not_break_a_record():
    assert decode(STEP, encode(STEP, step(0, answer="a\ud83d")), where="here").answer == "a?"


def test_a_difference_is_named_by_its_field():
    assert first_difference(encode(STEP, step(0)), encode(STEP, step(0, score=0.0))) == "score"


def test_what_was_appended_is_there_when_opened_again(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.append_step(step(0))
        writer.append_timing(StepTiming(step=0, seconds=1.0))
    with RunWriter(tmp_path) as writer:
        assert writer.steps == [encode(STEP, step(0))]
        assert len(writer.timings) == 1
        writer.append_step(step(1))
    assert (tmp_path / "steps.jsonl").read_bytes().count(b"\n") == 2


@given(cut=st.integers(min_value=0, max_value=400))
def test_a_torn_last_line_counts_as_not_written(cut):
    data = encode(STEP, step(0)) + encode(STEP, step(1))
    lines = whole_lines(data[: min(cut, len(data))])
    assert data.startswith(b"".join(lines))
    assert len(lines) == data[: min(cut, len(data))].count(b"\n")


def test_a_last_line_of_zeros_is_torn():
    whole = encode(STEP, step(0))
    assert whole_lines(whole + b"\x00\x00\x00\n") == [whole]


def test_a_torn_line_is_cut_away_before_the_next_is_written(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b'{"a":1}\n{"a":')
    file = LineFile(path)
    file.append(b'{"a":2}\n')
    file.close()
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n'


def full_disk(after):
    """Fail as a disk does that is full, and says so only when data is to be put on it."""
    done = 0

    def put_on_disk(file):
        nonlocal done
        done += 1
        if done > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return put_on_disk


def test_a_line_that_never_got_to_the_disk_ends_the_next_one_and_is_not_there(tmp_path):
    path = tmp_path / "lines"
    file = LineFile(path, put_on_disk=full_disk(after=1))
    file.append(b'{"a":1}\n')
    file.append(b'{"a":2}\n')
    with pytest.raises(RecordError, match="No space left on device"):
        file.append(b'{"a":3}\n')
    file.close()
    assert path.read_bytes() == b'{"a":1}\n'


def test_closing_waits_for_the_last_line(tmp_path):
    file = LineFile(tmp_path / "lines", put_on_disk=full_disk(after=0))
    file.append(b'{"a":1}\n')
    with pytest.raises(RecordError, match="No space left on device"):
        file.close()
    assert (tmp_path / "lines").read_bytes() == b""


def test_each_line_is_put_on_the_disk_before_the_next_is_written(tmp_path):
    path = tmp_path / "lines"
    sizes = []
    file = LineFile(path, put_on_disk=lambda _: sizes.append(path.stat().st_size))
    for number in range(20):
        file.append(b'{"a":%d}\n' % (number % 10))
    file.close()
    assert sizes == [8 * (number + 1) for number in range(20)]


def test_lines_that_nobody_waits_for_are_put_on_the_disk_once(tmp_path):
    calls = []
    file = LineFile(tmp_path / "lines", sync="at_close", put_on_disk=calls.append)
    for _ in range(20):
        file.append(b'{"a":1}\n')
    assert calls == []
    file.close()
    assert len(calls) == 1


def test_two_writers_of_one_directory_are_refused(tmp_path):
    with RunWriter(tmp_path), pytest.raises(RecordError, match="another process is writing"):
        RunWriter(tmp_path)
    RunWriter(tmp_path).close()


def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="give another --out"):
        RunWriter(tmp_path / "file" / "run")


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "run.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["run.json"]


WRITE_UNTIL_FULL = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from learnloop.errors import RecordError
    from learnloop.records.lines import LineFile

    file = LineFile(Path(sys.argv[1]))
    try:
        for number in range(1000):
            file.append(b'{"number":%06d}\\n' % (number + 100000))
    except RecordError as error:
        print(number, error)
    """
)


def test_a_full_disk_ends_clearly_and_leaves_whole_lines(tmp_path):
    # A limit on the size of a file makes a write fail in the middle of a line, as a full disk does.
    path = tmp_path / "steps.jsonl"
    script = tmp_path / "write.py"
    script.write_text(WRITE_UNTIL_FULL)
    done = subprocess.run(
        [sys.executable, script, path],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    # Each line has 18 bytes, so that 55 fit into 1000.
    assert done.stdout.startswith("55 cannot write")
    assert "free space and resume" in done.stdout
    assert path.stat().st_size == 55 * 18
