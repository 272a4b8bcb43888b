import json
import subprocess
import sys
from pathlib import Path

import pytest

import learnloop
from learnloop.editing.textgrad_engine import without_thinking


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain", "plain"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("a<think>b", "a"),
        ("a\n</think>\nb", "\nb"),
        ("a</think>b<think>c</think>d", "bd"),
        ("<think>a</think>b</think>c", "b</think>c"),
        ("", ""),
    ],
)
def test_thinking_is_taken_out(text, left):
    assert without_thinking(text) == left


WATCHED = """
import hashlib, json, os, sys, warnings

warnings.simplefilter("error")
touched = []

def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        touched.append(f"{event} {args!r}")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn"):
        touched.append(f"{event} {args!r}")

sys.addaudithook(watch)

from learnloop.editing.textgrad import TextGradEditor
from learnloop.environments.parity import Parity
from learnloop.llm.scripted import Scripted
from learnloop.types import Episode, Feedback, Prompt, Query, Source

loaded_early = "textgrad" in sys.modules
environ, sent = dict(os.environ), hashlib.sha256()

def script(messages, options):
    for message in messages:
        sent.update(f"{options}|{message.role}|{message.content}".encode())
    return f"<IMPROVED_VARIABLE>even: Blue\\nodd: Red</IMPROVED_VARIABLE> {sent.hexdigest()}"

def episode(number):
    feedback = Feedback(id=f"f{number}", target_id=f"q{number}", observed="Red")
    query = Query(id=f"q{number}", text=str(number))
    return Episode(id=query.id, query=query, answer="Red", step=0, source=Source(),
                   feedback=(feedback,))

editor = TextGradEditor(task=Parity().task, model=Scripted(script))
old = Prompt(version=0, text="even: Red\\nodd: Blue")
texts = [editor.edit(old, [episode(n) for n in range(1, 9)]).text for _ in range(3)]
print(json.dumps({
    "texts": texts,
    "sent": sent.hexdigest(),
    "touched": touched,
    "loaded_early": loaded_early,
    "environ": environ == dict(os.environ),
}))
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """What three edits do in each of two processes that hash text differently."""
    started = [_Watched(tmp_path_factory.mktemp("watched"), hash_seed) for hash_seed in "12"]
    return [each.result() for each in started]


class _Watched:
    """A process that edits in a folder of its own."""

    def __init__(self, directory, hash_seed):
        self.directory = directory
        for name in ("work", "home", "scratch"):
            (directory / name).mkdir()
        (directory / "work" / ".env").write_text("READ_FROM_A_FILE=1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", WATCHED],
            cwd=directory / "work",
            env={
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": str(Path(learnloop.__file__).parents[1]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": str(directory / "home"),
                "TMPDIR": str(directory / "scratch"),
                "TEXTGRAD_LOG_DIR": str(directory / "logs"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self):
        with self.process:
            out, said = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, said
        files = sorted(str(path.relative_to(self.directory)) for path in self.directory.rglob("*"))
        return json.loads(out) | {"files": files, "said": said}


def test_the_same_messages_are_sent_whatever_the_order_of_sets(watched):
    first, second = watched
    assert first["sent"] == second["sent"]
    assert first["texts"] == second["texts"] == ["even: Blue\nodd: Red"] * 3


def test_nothing_is_left_on_disk_and_nothing_is_said(watched):
    for each in watched:
        assert each["files"] == ["home", "scratch", "work", "work/.env"]
        assert each["said"] == ""


def test_nothing_goes_to_the_network_or_to_another_program(watched):
    assert [each["touched"] for each in watched] == [[], []]


def test_the_environment_is_as_before(watched):
    assert [each["environ"] for each in watched] == [True, True]


def test_the_library_is_loaded_only_with_the_editor(watched):
    assert [each["loaded_early"] for each in watched] == [False, False]
