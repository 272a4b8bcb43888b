import dataclasses
import json

from learnloop.checks.list_environment import TASK
from learnloop.methods.chain_of_thought import ChainOfThought
from learnloop.types import Query

QUERY = Query(id="q", text="Which animal has stripes?")


def read(reply):
    """What a task may do with an answer: read the JSON that is the whole of it."""
    return json.loads(reply)["answer"]


def test_reasoning_and_answer_are_told_apart_and_the_answer_is_parsed(make_parts):
    reply = 'A {tiger} has stripes.\nFINAL ANSWER: {"answer": "tiger"}'
    parts = dataclasses.replace(
        make_parts(answer=reply), task=dataclasses.replace(TASK, parse=read)
    )
    prediction = ChainOfThought.from_parts(parts).predict_one(QUERY)
    assert prediction.text == "tiger"
    assert prediction.rationale == "A {tiger} has stripes."
    assert prediction.raw == reply


def test_a_reply_without_the_marker_is_parsed_whole(make_parts):
    prediction = ChainOfThought.from_parts(make_parts(answer=" tiger ")).predict_one(QUERY)
    assert (prediction.text, prediction.rationale) == ("tiger", "")


def test_it_asks_for_reasoning_in_one_call_and_learns_nothing(make_parts, teach, memory):
    parts = make_parts(answer="FINAL ANSWER: tiger")
    method = ChainOfThought.from_parts(parts)
    teach(method, 1, correct=False, comment="No.", correction="zebra")
    teach(method, 2, correct=True)
    assert [call.role for call in parts.model.heard] == ["answer"] * 2
    assert all(call.text.endswith("\nReasoning:") for call in parts.model.heard)
    assert "zebra" not in parts.model.heard[1].text
    assert len(memory) == 0
