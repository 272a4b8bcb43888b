import json

import pytest

from learnloop import __version__


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


def test_help_has_an_example(learnloop):
    assert "Example: learnloop doctor" in learnloop("doctor", "--help").stdout
