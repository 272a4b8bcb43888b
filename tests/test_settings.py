from pathlib import Path

import pytest
from pydantic import ValidationError

from learnloop.errors import ConfigError
from learnloop.settings import read_settings, variables_for_import

NAMES = ("LEARNLOOP_CACHE", "LEARNLOOP_DATA", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CI")


@pytest.fixture
def environ(monkeypatch):
    """An environment without any of our variables; returns how to set one."""
    for name in (*NAMES, "LEARNLOOP_LANES", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


def test_without_variables_there_is_a_cache_folder_and_nothing_else(environ):
    settings = read_settings()
    assert settings.cache.name == "learnloop"
    assert (settings.data, settings.openai_api_key, settings.openai_base_url) == (None, None, None)
    assert settings.ci is False


def test_variables_are_read(environ):
    for name, value in zip(NAMES, ("cache", "data", "key", "http://here", "True"), strict=True):
        environ(name, value)
    settings = read_settings()
    assert settings.models == Path("cache/models")
    assert (settings.data, settings.openai_api_key) == (Path("data"), "key")
    assert (settings.openai_base_url, settings.ci) == ("http://here", True)


def test_lanes_are_counted_from_one(environ):
    assert read_settings().lanes is None
    environ("LEARNLOOP_LANES", "20")
    assert read_settings().lanes == 20


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_lanes_that_are_no_count_are_refused(environ, text):
    environ("LEARNLOOP_LANES", text)
    with pytest.raises(ConfigError, match=f"LEARNLOOP_LANES must be .* got '{text}'"):
        read_settings()


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "LEARNLOOP_DATA"])
def test_an_empty_variable_is_no_variable(environ, name):
    environ(name, "")
    settings = read_settings()
    assert (settings.openai_api_key, settings.data) == (None, None)


def test_settings_cannot_be_changed(environ):
    with pytest.raises(ValidationError):
        read_settings().ci = True


def test_the_key_is_never_shown(environ):
    environ("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in repr(read_settings())


def test_variables_for_an_import_are_put_back(environ):
    environ("LEARNLOOP_DATA", "before")
    with variables_for_import(LEARNLOOP_DATA="meanwhile", LEARNLOOP_CACHE="meanwhile"):
        assert read_settings().data == read_settings().cache == Path("meanwhile")
    assert read_settings().data == Path("before")
    assert read_settings().cache.name == "learnloop"
