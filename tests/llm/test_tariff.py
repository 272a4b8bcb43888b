import pytest

from learnloop.llm.endpoints import Endpoint, Endpoints
from learnloop.llm.tariff import Tariff
from learnloop.settings import Settings

MILLION = 1_000_000


@pytest.fixture
def tariff(tmp_path):
    ours = Endpoint(base_url="http://127.0.0.1:9/v1")
    return Tariff(
        settings=Settings(cache=tmp_path), endpoints=Endpoints({"ours": ours}, key_of={}.get)
    )


@pytest.mark.parametrize("name", ["local", "local/qwen2.5-coder-0.5b", "scripted/static", "none"])
def test_what_runs_on_this_machine_costs_nothing(tariff, name):
    assert tariff.cost(name, tokens_in=MILLION, tokens_out=MILLION) == 0.0


def test_a_published_price_is_the_one_told(tariff):
    # US$ 0.10 for a million tokens in and 0.40 for a million out.
    flash = "gemini/gemini-2.0-flash"
    assert tariff.cost(flash, tokens_in=MILLION, tokens_out=0) == pytest.approx(0.10)
    assert tariff.cost(flash, tokens_in=0, tokens_out=MILLION) == pytest.approx(0.40)
    assert tariff.cost("openai/gpt-4o-mini", tokens_in=MILLION, tokens_out=0) == pytest.approx(0.15)


@pytest.mark.parametrize("name", ["ours/m", "nim/meta/x", "http://127.0.0.1:9/v1#m", "nobody/x"])
def test_a_price_that_nobody_knows_is_none_and_not_nothing(tariff, name):
    assert tariff.cost(name, tokens_in=MILLION, tokens_out=MILLION) is None


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("gemini/gemini-2.0-flash", "GEMINI_API_KEY"),
        ("ours/m", None),
        ("local", None),
    ],
)
def test_the_variable_of_a_key_that_is_missing_is_named(tariff, name, variable):
    assert tariff.missing_key(name) == variable
