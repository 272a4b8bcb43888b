import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import learnloop.memory.embedders
from learnloop.errors import MissingExtraError, UnknownNameError
from learnloop.memory import EMBEDDERS
from learnloop.memory.opening import open_embedder
from learnloop.settings import Settings

SETTINGS = Settings(cache=Path("cache"), openai_api_key="key")


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("wordllama", "wordllama-l2-256"),
        ("openai/text-embedding-3-small", "text-embedding-3-small"),
        ("http://127.0.0.1:8080/v1#org/bge-small", "org/bge-small"),
    ],
)
def test_embedders_open_by_name(name, opened):
    assert open_embedder(name, settings=SETTINGS).name == opened


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wordlama", "did you mean 'wordllama'"),
        ("openai", "write openai/NAME"),
        ("http://127.0.0.1:8080/v1#", "URL#NAME"),
    ],
)
def test_a_wrong_name_is_told_with_what_would_be_right(name, message):
    with pytest.raises(UnknownNameError, match=message):
        open_embedder(name, settings=SETTINGS)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="it is installed")
def test_a_missing_extra_is_told_with_the_line_that_installs_it():
    with pytest.raises(
        MissingExtraError, match=r"pip install 'learnloop\[sentence-transformers\]'"
    ):
        open_embedder("sentence-transformers", settings=SETTINGS)


def test_every_embedder_can_be_loaded_and_every_file_is_named():
    loaded = {EMBEDDERS.load(name).__module__ for name in EMBEDDERS}
    folder = Path(learnloop.memory.embedders.__file__).parent
    files = {f"learnloop.memory.embedders.{path.stem}" for path in folder.glob("[!_]*.py")}
    assert files - {"learnloop.memory.embedders.caching"} == loaded


def test_importing_the_package_loads_no_embedder():
    heavy = "import sys, learnloop.memory; print({'wordllama', 'openai'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True)
    assert ended.stdout == "set()\n"
