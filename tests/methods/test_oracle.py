import pytest

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.errors import ParameterError
from learnloop.methods import METHODS
from learnloop.methods.oracle import Oracle
from learnloop.methods.parts import Parts
from learnloop.types import Query, Task


def test_it_is_right_on_every_query_and_calls_no_model(make_parts):
    items = [Item(query=Query(id=f"q{n}", text=f"{n}?"), gold=f"word{n}") for n in range(5)]
    world = ListEnvironment(items)
    parts = make_parts(beside={"answer_key": world.gold})
    method = Oracle.from_parts(parts)
    query, scores = world.reset(seed=1), []
    while query is not None:
        step = world.step(method.predict_one(query))
        scores.append(step.score.value)
        query = step.query
    assert scores == [1.0] * 5
    assert parts.model.heard == []


def test_what_it_says_is_read_like_the_reply_of_a_model():
    task = Task(
        name="t",
        role="",
        instructions="",
        answer_format="",
        metric="",
        parse=lambda reply: reply.partition("=")[2],
    )
    prediction = Oracle(task=task, answer_key=lambda query: "answer=4").predict_one(
        Query(id="q", text="2 + 2?")
    )
    assert (prediction.text, prediction.raw) == ("4", "answer=4")


def test_it_refuses_an_environment_that_does_not_tell_its_answers(make_parts):
    with pytest.raises(ParameterError, match=r"'list' does not tell them"):
        Oracle.from_parts(make_parts())


def test_it_is_the_only_method_that_may_be_told_answers():
    told = [name for name in METHODS if getattr(METHODS.load(name), "needs_answers", False)]
    assert told == ["oracle"]


@pytest.mark.parametrize("name", [name for name in METHODS if name != "oracle"])
def test_no_other_method_asks_for_the_answers(make_parts, name):
    def tell(query):
        raise AssertionError("asked for the answer")

    demonstrations = ListEnvironment(
        [Item(query=Query(id="q", text="?"), gold="word")],
        demonstrations=[
            Item(query=Query(id=f"d{n}", text=f"{n}?"), gold="word") for n in range(16)
        ],
    ).demonstrations
    parts = make_parts(beside={"answer_key": tell, "demonstrations": lambda k: demonstrations(k=k)})
    assert isinstance(parts, Parts)
    method = METHODS.load(name).from_parts(parts)
    assert method.predict_one(Query(id="q", text="?")).query_id == "q"
