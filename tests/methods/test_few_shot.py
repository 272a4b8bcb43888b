import pytest

from learnloop.errors import ParameterError
from learnloop.methods.few_shot import FewShot
from learnloop.types import Episode, Query, Source


def give(k):
    return [
        Episode(
            id=f"d{n}",
            query=Query(id=f"d{n}", text=f"SHOWN {n}"),
            answer=f"gold{n}",
            step=n,
            source=Source(),
            correct=True,
        )
        for n in range(k)
    ]


@pytest.fixture
def make(make_parts):
    def one(**params):
        parts = make_parts(answer="said", beside={"demonstrations": give})
        return FewShot.from_parts(parts, **params), parts

    return one


def test_it_shows_the_same_k_demonstrations_every_time(make, teach):
    method, parts = make(k=3)
    first = teach(method, 1, correct=True, correction="corrected")
    second = teach(method, 2, correct=False)
    assert first.examples == second.examples == ("d0", "d1", "d2")
    for call in parts.model.heard:
        assert "Question: SHOWN 0\nAnswer: gold0\n\nQuestion: SHOWN 1" in call.text
        assert "corrected" not in call.text


def test_it_shows_sixteen_as_published_where_nothing_else_is_said(make, teach):
    method, _ = make()
    assert len(teach(method, 1).examples) == 16


def test_it_makes_one_call_a_query_and_remembers_nothing(make, teach, memory):
    method, parts = make()
    for number in range(3):
        teach(method, number, correct=False, comment="No.")
    assert [call.role for call in parts.model.heard] == ["answer"] * 3
    assert len(memory) == 0


def test_it_refuses_an_environment_without_demonstrations(make_parts):
    with pytest.raises(ParameterError, match="needs demonstrations"):
        FewShot.from_parts(make_parts())
