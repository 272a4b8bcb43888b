import pytest

from learnloop.checks.listening_model import ListeningModel
from learnloop.methods.grow_prompt import GrowPrompt
from learnloop.methods.mem_prompt import MemPrompt
from learnloop.types import Feedback, Query

BOTH = pytest.mark.parametrize("method", [GrowPrompt, MemPrompt])


def test_it_shows_the_k_newest_right_or_wrong_newest_last(make_parts, teach):
    method = GrowPrompt.from_parts(make_parts(), k=3)
    for number in range(5):
        teach(method, number, correct=number % 2 == 0)
    assert teach(method, 5).examples == ("q2", "q3", "q4")


@BOTH
def test_feedback_is_shown_in_words(make_parts, teach, method):
    parts = make_parts(answer="said")
    learning = method.from_parts(parts)
    teach(learning, 1, correct=True)
    teach(learning, 2, correct=False, comment="Use tabs.", correction="corrected")
    teach(learning, 3)
    shown = teach(learning, 4)
    assert set(shown.examples) == {"q1", "q2", "q2:correction", "q3"}
    text = parts.model.heard[-1].text
    blocks = text.partition("<examples>\n")[2].partition("\n</examples>")[0].split("\n\n")
    said = {block.partition("?")[0][-1]: [] for block in blocks}
    for block in blocks:
        said[block.partition("?")[0][-1]].append(block.splitlines()[1:])
    assert said["1"] == [["Answer: said", "Feedback: this answer is correct."]]
    wrong = ["Answer: said", "Feedback: this answer is not correct.", "Comment: Use tabs."]
    right = ["Answer: corrected", "Feedback: this answer is correct."]
    assert sorted(said["2"]) == sorted([wrong, right])
    assert said["3"] == [["Answer: said", "Feedback: none."]]
    assert "were right" not in text


@BOTH
def test_it_declares_that_it_shows_wrong_answers(method):
    assert method.shows_wrong_answers


@BOTH
def test_it_makes_one_call_a_query(make_parts, teach, method):
    parts = make_parts()
    learning = method.from_parts(parts)
    for number in range(4):
        teach(learning, number, correct=number % 2 == 0, comment="No.")
    assert [call.role for call in parts.model.heard] == ["answer"] * 4


QUESTIONS = {
    "coffee": "Which coffee is the strongest espresso?",
    "tea": "Which green tea is brewed cold?",
    "train": "When does the train to Berlin leave?",
    "railway": "Which railway trains leave for Berlin at night?",
}


@pytest.fixture
def taught(make_parts):
    """A MemPrompt that was wrong about trains and right about all else."""

    def make(**params):
        parts = make_parts()
        method = MemPrompt.from_parts(parts, **params)
        for name in ("train", "coffee", "tea"):
            query = Query(id=name, text=QUESTIONS[name])
            feedback = Feedback(id=name, target_id=name, correct=name != "train")
            method.learn_one(query, method.predict_one(query), feedback)
        assert isinstance(parts.model, ListeningModel)
        return method.predict_one(Query(id="railway", text=QUESTIONS["railway"]))

    return make


def test_mem_prompt_shows_the_most_similar_last_whatever_became_of_it(taught):
    assert taught(k=1).examples == ("train",)
    assert taught(k=3).examples[-1] == "train"


def test_mem_prompt_takes_the_right_ones_of_the_k_and_no_others(taught):
    assert taught(k=1, only_correct=True).examples == ()
    assert set(taught(k=3, only_correct=True).examples) == {"coffee", "tea"}
