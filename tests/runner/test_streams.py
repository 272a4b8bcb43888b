import json

import pytest

from learnloop.environments import bird, cosql, ddxplus, ds1000, hotpotqa, spider
from learnloop.errors import DataError, ParameterError, UnknownNameError
from learnloop.runner.published_streams import PUBLISHED_STREAMS, published_stream
from learnloop.runner.spec import make_spec
from learnloop.runner.streams import Streams


def spec(environment, **fields):
    return make_spec(environment=environment, method="zero_shot", **fields)


@pytest.mark.parametrize("module", [bird, cosql, ddxplus, ds1000, hotpotqa, spider])
def test_the_published_lengths_are_those_of_the_environments(module):
    name = module.__name__.rpartition(".")[2]
    assert PUBLISHED_STREAMS[name].queries == module.LENGTH


def test_tokens_of_queries_and_examples_add_up_to_the_published_totals():
    for stream in PUBLISHED_STREAMS.values():
        read = stream.tokens_a_query + stream.examples * stream.tokens_an_example
        assert read * stream.queries == pytest.approx(stream.tokens_in)
    ddxplus_stream = PUBLISHED_STREAMS["ddxplus"]
    assert ddxplus_stream.tokens_a_query * 1764 == pytest.approx(1.131e6)


def test_an_environment_is_opened_once_for_all_its_runs():
    streams = Streams()
    one = streams.find(spec("parity", seed=1))
    assert streams.find(spec("parity", seed=2)).environment is one.environment
    assert one.has_form
    assert one.note == ""


def test_each_spec_is_checked_also_where_its_stream_is_known():
    streams = Streams()
    streams.find(spec("parity"))
    with pytest.raises(ParameterError, match="steps: 100000 asked for, but parity has"):
        streams.find(spec("parity", steps=100_000))
    with pytest.raises(UnknownNameError):
        streams.find(spec("party"))


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("environment", ["spider", "ddxplus_published", "hotpotqa"])
def test_where_data_is_not_here_what_is_published_stands_in_if_that_will_do(no_data, environment):
    facts = Streams(need_data=False).find(spec(environment))
    assert facts.length == published_stream(environment).queries
    assert facts.environment is None
    assert facts.note == "data not here: published length assumed"
    with pytest.raises(DataError, match="learnloop data get"):
        Streams().find(spec(environment))
    with pytest.raises(ParameterError, match="steps"):
        Streams(need_data=False).find(spec(environment, steps=3000))


def test_a_plan_never_waits_for_references_to_be_run(no_data, monkeypatch):
    monkeypatch.setenv("LEARNLOOP_CACHE", str(no_data / "cache"))
    facts = Streams(need_data=False).find(spec("ds1000"))
    assert (facts.length, facts.note) == (1000, "not made ready here: published length assumed")


def test_rows_that_are_here_are_what_is_counted(no_data):
    folder = no_data / "hotpotqa"
    folder.mkdir()
    rows = [
        {
            "id": f"row{number}",
            "question": f"Who wrote book {number}?",
            "answer": "Somebody",
            "context": {"title": ["Books"], "sentences": [["A word and another one. " * 40]]},
        }
        for number in range(3)
    ]
    folder.joinpath("distractor_dev500.jsonl").write_text("\n".join(map(json.dumps, rows)))
    facts = Streams(need_data=False).find(spec("hotpotqa"))
    assert (facts.length, facts.note) == (3, "")
    # 40 times 24 letters of context at 3.2 a token, and the instructions and the question.
    assert 300 < facts.query_tokens < 600
