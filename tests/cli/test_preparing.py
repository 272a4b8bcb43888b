import io
import json
import shutil

import pytest
from rich.console import Console

from learnloop.cli.preparing import make_ready
from learnloop.environments import ENVIRONMENTS, PREPARATIONS
from learnloop.errors import DataError, ParameterError
from learnloop.runner.spec import RunSpec

PROGRAM = 'exec_context = """\n[insert]\n"""\n\ndef test_execution(solution: str):\n    pass\n'
ROWS = [
    {
        "prompt": "Problem:\nAdd.\n\nBEGIN SOLUTION\n<code>",
        "reference_code": "result = 1",
        "metadata": {"problem_id": number, "library": "Tensorflow"},
        "code_context": PROGRAM,
    }
    for number in (1, 2)
]


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Prepares runs in an empty cache, and returns the lines that are shown."""
    monkeypatch.setenv("LEARNLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))

    def prepare(*environments, **params):
        shown = io.StringIO()
        specs = [
            RunSpec(environment=name, environment_params=params, method="oracle")
            for name in environments
        ]
        make_ready(specs, Console(file=shown))
        return shown.getvalue().splitlines()

    return prepare


@pytest.fixture
def rows(tmp_path):
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    (tmp_path / "ds1000").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "ds1000" / "ds1000.jsonl").write_text(lines)


def test_what_takes_long_says_how_far_it_is_and_is_done_once(said, rows):
    what = "ds1000: trying the references (first time only): "
    assert said("ds1000", "ds1000_published") == [f"{what}1 of 2", f"{what}2 of 2"]
    assert said("ds1000", "ds1000_published") == []


def test_most_environments_need_nothing(said):
    assert said("parity", "spider", "house_rules") == []


def test_a_wrong_parameter_is_found_before(said):
    with pytest.raises(ParameterError, match="no parameter 'library'; did you mean 'libraries'"):
        said("ds1000", library="numpy")


def test_without_rows_nothing_is_prepared(said):
    with pytest.raises(DataError, match="learnloop data get ds1000"):
        said("ds1000_published")


@pytest.mark.parametrize("name", list(PREPARATIONS))
def test_a_preparation_belongs_to_an_environment(name):
    assert name in set(ENVIRONMENTS)
    assert callable(PREPARATIONS.load(name))
