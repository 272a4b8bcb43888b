import dataclasses

import pytest

from learnloop.checks.listening_model import ListeningModel
from learnloop.errors import BudgetError, ModelTimeoutError
from learnloop.methods.self_refine import STOP_WORDS, SelfRefine
from learnloop.types import Query

QUERY = Query(id="q", text="Which animal has stripes?")


@pytest.fixture
def make(make_parts):
    """A Self-Refine whose judge says these things in turn, and the model that it calls."""

    def one(*judgements, error=None, fails_on=(), **params):
        said = iter(judgements)
        edits = iter(range(1, 99))

        def script(heard):
            if heard.role == "answer":
                return "first"
            return next(said, "Mend it.") if heard.role == "judge" else f"refined{next(edits)}"

        model = ListeningModel(script, error=error, fails_on=fails_on)
        parts = dataclasses.replace(make_parts(), model=model)
        return SelfRefine.from_parts(parts, **params), parts

    return one


def roles(parts):
    return [call.role for call in parts.model.heard]


def test_it_stops_at_once_where_the_model_finds_nothing_to_mend(make):
    method, parts = make(STOP_WORDS)
    assert method.predict_one(QUERY).text == "first"
    assert roles(parts) == ["answer", "judge"]


@pytest.mark.parametrize(
    "judgement",
    [f"It is not so that there is {STOP_WORDS}.", f"Fine.\n**{STOP_WORDS.lower()}**"],
)
def test_the_stop_words_count_wherever_they_stand(make, judgement):
    method, parts = make(judgement)
    assert method.predict_one(QUERY).text == "first"
    assert len(parts.model.heard) == 2


def test_it_makes_nine_calls_at_most(make):
    method, parts = make()
    prediction = method.predict_one(QUERY)
    assert roles(parts) == ["answer", *["judge", "edit"] * 4]
    assert (prediction.text, prediction.raw) == ("refined4", "refined4")


def test_the_number_of_rounds_can_be_set(make):
    method, parts = make(rounds=0)
    assert method.predict_one(QUERY).text == "first"
    assert roles(parts) == ["answer"]


def test_each_call_goes_on_from_the_whole_conversation(make):
    method, parts = make("Too short.", "Too long.", STOP_WORDS)
    method.predict_one(QUERY)
    calls = [call.messages for call in parts.model.heard]
    for before, after in zip(calls, calls[1:], strict=False):
        assert after[: len(before)] == before
    said = [message.content for message in calls[-1] if message.role == "assistant"]
    assert said == ["first", "Too short.", "refined1", "Too long.", "refined2"]
    turns = [message.role for message in calls[-1]]
    assert turns == ["system", "user", *["assistant", "user"] * 5]


@pytest.mark.parametrize(("role", "answer"), [("judge", "first"), ("edit", "first")])
def test_a_failed_call_beside_the_answering_one_leaves_the_answer_with_an_event(make, role, answer):
    method, parts = make(error=ModelTimeoutError("no answer in time"), fails_on=(role,))
    assert method.predict_one(QUERY).text == answer
    (event,) = parts.journal.drain()
    assert event.kind == "refining_failed"
    assert "no answer in time" in event.text
    assert event.refs == ("q",)


def test_a_spent_budget_is_no_failed_call(make):
    method, _ = make(error=BudgetError("spent"), fails_on=("judge",))
    with pytest.raises(BudgetError):
        method.predict_one(QUERY)
