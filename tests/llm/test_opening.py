from pathlib import Path

import pytest

from learnloop.errors import InputError, ModelConnectionError, ModelFileError, UnknownNameError
from learnloop.llm.catalog import CATALOG
from learnloop.llm.limiting import Limited
from learnloop.llm.openai_compatible import OpenAICompatible
from learnloop.llm.opening import model_names, open_model
from learnloop.llm.retrying import Retrying
from learnloop.settings import Settings
from learnloop.types import Message, Options


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path)


def test_a_scripted_model_opens(settings: Settings) -> None:
    assert open_model("scripted/echo", settings=settings).name == "scripted/echo"


def test_a_hosted_model_opens_with_retries(settings: Settings) -> None:
    with_key = settings.model_copy(update={"openai_api_key": "secret"})
    model = open_model("openai/gpt-4o-mini", settings=with_key)
    assert isinstance(model, Retrying)
    assert isinstance(model.model, Limited)
    assert isinstance(model.model.model, OpenAICompatible)
    assert model.name == "openai/gpt-4o-mini"


def test_a_url_names_the_endpoint_and_the_model(settings: Settings) -> None:
    model = open_model("http://127.0.0.1:1/v1#org/my-model", settings=settings)
    assert isinstance(model, Retrying)
    assert isinstance(model.model, Limited)
    assert isinstance(model.model.model, OpenAICompatible)
    bare = model.model.model
    assert (bare.base_url, bare.model) == ("http://127.0.0.1:1/v1", "org/my-model")


def test_an_unreachable_url_is_a_clear_error_on_the_first_call(settings: Settings) -> None:
    model = open_model("http://127.0.0.1:1/v1#my-model", settings=settings)
    assert isinstance(model, Retrying)
    once = Retrying(model.model, attempts=1)
    with pytest.raises(ModelConnectionError, match=r"nobody answers at 'http://127\.0\.0\.1:1/v1'"):
        once.complete([Message(role="user", content="Hi")], options=Options())


def test_a_missing_key_says_what_to_set(settings: Settings) -> None:
    with pytest.raises(InputError, match="set OPENAI_API_KEY"):
        open_model("openai/gpt-4o-mini", settings=settings)


@pytest.mark.parametrize("name", ["local", "local/qwen2.5-coder-1.5b"])
def test_a_missing_model_file_says_how_to_get_it(settings: Settings, name: str) -> None:
    with pytest.raises(ModelFileError, match=r"learnloop models get qwen2\.5-coder-1\.5b"):
        open_model(name, settings=settings)


def test_a_damaged_model_file_says_how_to_get_it_again(settings: Settings) -> None:
    settings.models.mkdir()
    (settings.models / CATALOG[0].file).write_bytes(b"GGUF and not much more")
    with pytest.raises(ModelFileError, match="corrupt: it has 22 bytes"):
        open_model("local", settings=settings)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\xff" * 500])
def test_a_file_that_is_no_model_is_refused(settings: Settings, content: bytes) -> None:
    path = settings.cache / "my.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"my\.gguf"):
        open_model(f"file:{path}", settings=settings)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("locl", "did you mean 'local'"),
        ("scripted/statik", "known: echo, static"),
        ("local/qwen2.5-coder-7b", "did you mean"),
        ("gpt-4o", "a model is one of local"),
        ("openai/", "a model is one of"),
        ("http://127.0.0.1:1/v1", "write URL#NAME"),
        ("ftp://127.0.0.1#x", "write URL#NAME"),
        ("", "a model is one of"),
    ],
)
def test_a_name_that_is_none_gets_a_hint(settings: Settings, name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=hint):
        open_model(name, settings=settings)


def test_a_run_without_a_model_that_calls_one_is_told_so(settings: Settings) -> None:
    model = open_model("none", settings=settings)
    with pytest.raises(InputError, match="called a model for the role 'edit'; give --model"):
        model.complete([Message(role="user", content="Hi")], options=Options(role="edit"))


def test_listed_scripts_open_and_listed_files_are_known(settings: Settings) -> None:
    names = model_names(settings)
    assert names[0] == "local"
    for name in names:
        if name.startswith("scripted/") or name == "none":
            assert open_model(name, settings=settings).name == name
        else:
            with pytest.raises(ModelFileError, match="learnloop models get"):
                open_model(name, settings=settings)
