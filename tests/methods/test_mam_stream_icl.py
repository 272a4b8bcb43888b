import dataclasses

import pytest
from pydantic import ValidationError

from learnloop.checks.listening_model import ListeningModel
from learnloop.errors import ModelTimeoutError, ParameterError
from learnloop.memory.opening import open_memory
from learnloop.methods.mam_stream_icl import MAMStreamICL
from learnloop.methods.self_stream_icl import SelfStreamICL
from learnloop.types import Feedback, Query

SCHEDULES = ("round_robin", "thompson", "dynamic_thompson")


def agent(name, **errors):
    return ListeningModel(lambda heard: f"said by {name}", **errors)


@pytest.fixture
def make(make_parts):
    """A method of the agents 0, 1 and 2."""

    def one(count=3, **params):
        models = [agent(n) for n in range(count)]
        parts = dataclasses.replace(make_parts(), model=models[0], agents=tuple(models[1:]))
        return MAMStreamICL.from_parts(parts, **params)

    return one


def answers(predictions):
    return [prediction.text for prediction in predictions]


def test_agents_take_turns_and_the_prediction_says_which(make, teach):
    method = make()
    said = [teach(method, number, correct=True) for number in range(4)]
    assert answers(said) == ["said by 0", "said by 1", "said by 2", "said by 0"]
    assert [prediction.agent for prediction in said] == [0, 1, 2, 0]


def test_the_published_first_agent_is_the_second(make, teach):
    method = make(first=1)
    said = [teach(method, number, correct=True).agent for number in range(3)]
    assert said == [1, 2, 0]


def test_each_agent_is_shown_what_the_others_got_right_and_nothing_wrong(make, teach):
    method = make()
    teach(method, 0, correct=True)
    teach(method, 1, correct=False)
    shown = teach(method, 2, correct=True)
    assert (shown.agent, shown.examples) == (2, ("q0",))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_turn_stays_until_something_is_heard(make, schedule):
    method = make(schedule=schedule)
    queries = [Query(id=f"x{n}", text=f"number {n}?") for n in range(9)]
    assert len({method.predict_one(query).agent for query in queries}) == 1


def test_more_feedback_on_one_query_passes_the_turn_on_once(make):
    method = make()
    query = Query(id="q", text="number 1?")
    prediction = method.predict_one(query)
    for number in range(3):
        method.learn_one(query, prediction, Feedback(id=f"f{number}", target_id="q", correct=True))
    assert method.predict_one(Query(id="r", text="number 2?")).agent == 1


def test_a_late_verdict_is_credited_to_the_agent_that_answered(make):
    method = make(schedule="thompson")
    asked = [Query(id=f"q{n}", text=f"number {n}?") for n in range(40)]
    for query in asked:
        said = dataclasses.replace(method.predict_one(query), agent=int(query.id[1:]) % 3)
        comment = Feedback(id=f"c{query.id}", target_id=query.id, comment="Hm.")
        method.learn_one(query, said, comment)
    for query in asked:
        number = int(query.id[1:]) % 3
        said = dataclasses.replace(method.predict_one(query), agent=number)
        verdict = Feedback(id=f"v{query.id}", target_id=query.id, correct=number == 1)
        method.learn_one(query, said, verdict)
    drawn = []
    for number in range(30):
        query = Query(id=f"r{number}", text=f"again {number}?")
        said = method.predict_one(query)
        drawn.append(said.agent)
        method.learn_one(query, said, Feedback(id=query.id, target_id=query.id))
    assert drawn.count(1) == 30


def test_a_failed_call_is_no_reason_to_ask_another_agent(make_parts):
    failing = agent(0, error=ModelTimeoutError("no answer in time"), fails_on=("answer",))
    other = agent(1)
    parts = dataclasses.replace(make_parts(), model=failing, agents=(other,))
    with pytest.raises(ModelTimeoutError):
        MAMStreamICL.from_parts(parts).predict_one(Query(id="q", text="?"))
    assert other.heard == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_agent_alone_is_self_stream_icl_and_a_note_says_so(make_parts, words, teach, schedule):
    heard = []
    for build in (
        lambda parts: MAMStreamICL.from_parts(parts, schedule=schedule),
        SelfStreamICL.from_parts,
    ):
        parts = dataclasses.replace(make_parts(answer="said"), memory=open_memory(words))
        method = build(parts)
        for number in range(6):
            teach(method, number, correct=number % 2 == 0, correction="corrected")
        heard.append(parts.model.heard)
        notes = [event.kind for event in parts.journal.drain()]
        assert notes == (["one_agent"] if isinstance(method, MAMStreamICL) else [])
    assert heard[0] == heard[1]


def test_a_first_agent_that_there_is_not_is_refused(make):
    with pytest.raises(ParameterError, match="one of the 3 agents, from 0, got 3"):
        make(first=3)
    with pytest.raises(ValidationError):
        make(remembered=1)
