import json
import tomllib
from pathlib import Path

import pytest

from learnloop import __version__
from learnloop.cli.doctor import EXTRAS

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")


def test_a_model_that_cannot_do_it_is_told_so(learnloop):
    done = learnloop("doctor", "--model", "scripted/static", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert found["learnloop"] == __version__
    assert not found["fit"]
    assert "did not write at most 5 bullets" in found["verdict"][0]
    assert "did not follow a JSON schema" in found["verdict"][1]
    assert found["probe"]["model"] == "scripted/static"


def test_a_missing_model_is_a_finding_that_says_how_to_get_it(learnloop):
    done = learnloop("doctor", "--model", "local/qwen2.5-coder-0.5b")
    assert done.exit_code == 1
    assert "learnloop models get qwen2.5-coder-0.5b" in done.stdout


def test_a_missing_key_is_a_finding_that_says_what_to_set(learnloop):
    done = learnloop("doctor", "--model", "openai/some-model")
    assert done.exit_code == 1
    assert "set OPENAI_API_KEY" in done.stdout


def test_an_unknown_model_is_bad_input(learnloop):
    done = learnloop("doctor", "--model", "scripted/statik")
    assert done.exit_code == 2
    assert "no scripted model named 'statik'" in done.stderr


def test_what_is_missing_is_said_with_how_to_install_it(learnloop):
    done = learnloop("doctor", "--model", "scripted/static")
    assert "no: learnloop models get qwen2.5-coder-1.5b" in done.stdout


def test_what_the_benchmarks_need_is_told(learnloop, tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = learnloop("doctor", "--model", "scripted/static").stdout
    assert "no: apt-get install bubblewrap" in shown
    assert str(tmp_path) in shown.replace("\n", "").replace(" ", "")
    (tmp_path / "bwrap").touch(mode=0o755)
    found = json.loads(learnloop("doctor", "--model", "scripted/static", "--json").stdout)
    assert found["sandbox"] == str(tmp_path / "bwrap")
    assert found["data_folder"] == str(tmp_path)


def test_every_extra_with_a_package_of_its_own_is_examined():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) - {"server"} == set(EXTRAS)
    for extra, package in EXTRAS.items():
        assert any(wanted.startswith(package) for wanted in extras[extra])


def test_help_has_an_example(learnloop):
    assert "Example: learnloop doctor" in learnloop("doctor", "--help").stdout
