import json

import pytest

from learnloop.llm.catalog import CATALOG

ENTRY = CATALOG[1]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder without any model."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LEARNLOOP_CACHE", str(folder))
    return folder


def test_the_catalog_is_listed_with_what_is_here(learnloop, cache):
    rows = json.loads(learnloop("models", "list", "--json").stdout)
    assert [row["name"] for row in rows] == [entry.name for entry in CATALOG]
    assert [row["present"] for row in rows] == [False] * len(CATALOG)
    assert rows[1]["sha256"] == ENTRY.sha256


def test_a_table_names_every_model(learnloop, cache):
    done = learnloop("models", "list")
    assert done.exit_code == 0
    assert all(entry.name in done.stdout for entry in CATALOG)


def test_checking_a_missing_model_says_how_to_get_it(learnloop, cache):
    done = learnloop("models", "check", ENTRY.name)
    assert done.exit_code == 2
    assert f"learnloop models get {ENTRY.name}" in done.stderr


def test_checking_a_damaged_model_says_what_differs(learnloop, cache):
    (cache / "models").mkdir(parents=True)
    (cache / "models" / ENTRY.file).write_bytes(b"GGUF")
    done = learnloop("models", "check", ENTRY.name)
    assert done.exit_code == 2
    assert "it has 4 bytes, expected 491,400,064" in done.stderr


def test_getting_a_model_from_a_wrong_file_is_refused(learnloop, cache, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF, but another one")
    done = learnloop("models", "get", ENTRY.name, "--file", mine)
    assert done.exit_code == 2
    assert "has 21 bytes, expected 491,400,064" in done.stderr
    assert not (cache / "models" / ENTRY.file).exists()


def test_a_misspelt_model_gets_a_suggestion(learnloop, cache):
    done = learnloop("models", "get", "qwen2.5-coder-0.5")
    assert done.exit_code == 2
    assert f"did you mean '{ENTRY.name}'?" in done.stderr


def test_an_unknown_source_is_refused_with_those_there_are(learnloop, cache):
    done = learnloop("models", "get", ENTRY.name, "--source", "ftp")
    assert done.exit_code == 2
    assert "no source 'ftp'; known: auto, file, hub, index" in done.stderr


@pytest.mark.parametrize("command", ["list", "get", "check"])
def test_every_command_has_help_with_an_example(learnloop, command):
    assert f"Example: learnloop models {command}" in learnloop("models", command, "--help").stdout
