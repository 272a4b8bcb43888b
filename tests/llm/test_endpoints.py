import json

import httpx2
import pytest
from pydantic import ValidationError

from learnloop.errors import InputError, ParameterError
from learnloop.llm.endpoints import ENDPOINTS, Endpoint, Endpoints
from learnloop.llm.limiting import Limited
from learnloop.llm.openai_compatible import OpenAICompatible
from learnloop.llm.opening import open_model
from learnloop.settings import Settings
from learnloop.types import Message, Options

OURS = Endpoint(base_url="http://127.0.0.1:9/v1", calls_a_minute=30)


def endpoints(given=None, **keys):
    return Endpoints(given, key_of=keys.get)


def parts_of(model):
    assert isinstance(model.model, Limited)
    return model.model.limiter, model.model.model


def test_a_model_of_a_known_endpoint_goes_to_its_address_under_its_own_name(tmp_path):
    model = open_model(
        "nim/meta/llama-3.3-70b-instruct",
        settings=Settings(cache=tmp_path),
        endpoints=endpoints(NVIDIA_API_KEY="secret"),
    )
    assert model.name == "nim/meta/llama-3.3-70b-instruct"
    _, bare = parts_of(model)
    assert (bare.base_url, bare.model) == (ENDPOINTS["nim"].base_url, "meta/llama-3.3-70b-instruct")


@pytest.mark.parametrize(
    ("name", "variable"), [("nim/m", "NVIDIA_API_KEY"), ("gemini/m", "GEMINI_API_KEY")]
)
def test_a_missing_key_is_one_clear_line_that_names_the_variable(tmp_path, name, variable):
    with pytest.raises(InputError, match=f"the model '{name}' needs a key; set {variable}"):
        open_model(name, settings=Settings(cache=tmp_path), endpoints=endpoints())


def test_models_of_one_address_share_a_limiter_and_others_do_not():
    opened = endpoints({"ours": OURS, "same": OURS}, NVIDIA_API_KEY="secret")
    one, two = opened.open("ours", "a"), opened.open("same", "b")
    other = opened.open("nim", "a")
    assert parts_of(one)[0] is parts_of(two)[0]
    assert parts_of(one)[0] is not parts_of(other)[0]
    assert parts_of(one)[0].rate == 30


def test_an_endpoint_without_a_key_of_its_own_needs_none():
    assert endpoints({"ours": OURS}).missing_key("ours") is None


@pytest.mark.parametrize("name", ["openai", "local", "scripted"])
def test_the_name_of_another_kind_of_model_is_taken(name):
    with pytest.raises(ParameterError, match=f"cannot be called '{name}'"):
        endpoints({name: OURS})


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "https://user:secret@host/v1"},
        {"base_url": "ftp://host"},
        {"base_url": "https://host/v1?key=secret"},
        {"base_url": "https://host/v1", "api_key": "secret"},
        {"base_url": "https://host/v1", "calls_a_minute": 0},
    ],
)
def test_an_endpoint_is_an_address_and_never_holds_a_secret(fields):
    with pytest.raises(ValidationError):
        Endpoint(**fields)


def test_gemini_is_not_sent_the_field_that_it_refuses():
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json={"choices": [{"message": {"content": "yes"}}]})

    model = OpenAICompatible(
        base_url=ENDPOINTS["gemini"].base_url,
        api_key="secret",
        model="gemini-2.0-flash",
        name="gemini/gemini-2.0-flash",
        leave_out=ENDPOINTS["gemini"].leave_out,
        http_client=httpx2.Client(transport=httpx2.MockTransport(handler)),
    )
    model.complete([Message(role="user", content="Hi")], options=Options(seed=42))
    assert sorted(bodies[0]) == ["max_tokens", "messages", "model", "temperature"]
