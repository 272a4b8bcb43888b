import pytest

from learnloop.methods.remembering import remember
from learnloop.types import Feedback, Prediction, Query, Source

QUERY = Query(id="q", text="Which word is first?")
USER = Source(kind="user", id="ann")


@pytest.fixture
def hear(memory):
    """Take in feedback on one answer, and return the episode."""

    def one(feedback_id, **parts):
        prediction = Prediction(query_id="q", text="mistake")
        feedback = Feedback(id=feedback_id, target_id="q", source=USER, **parts)
        return remember(memory, QUERY, prediction, feedback)

    return one


def right_answers(memory):
    return [match.episode.answer for match in memory.nearest(QUERY, k=9, outcome="right")]


def test_an_answer_is_remembered_with_what_was_said_of_it(hear, memory):
    episode = hear("a", correct=False, comment="No.")
    assert (episode.answer, episode.correct, episode.source.kind) == ("mistake", False, "model")
    assert [feedback.comment for feedback in episode.feedback] == ["No."]
    assert len(memory) == 1


def test_feedback_without_a_verdict_leaves_the_outcome_open(hear):
    assert hear("a", comment="Hm.").correct is None


def test_a_correction_is_a_right_answer_from_its_source(hear, memory):
    hear("a", correct=False, correction="word")
    (match,) = memory.nearest(QUERY, k=9, outcome="right")
    assert (match.episode.answer, match.episode.source) == ("word", USER)
    assert match.episode.query == QUERY


def test_a_late_correction_joins_the_answer_that_it_is_about(hear, memory):
    hear("a", correct=False)
    episode = hear("b", correction="word")
    assert [feedback.id for feedback in episode.feedback] == ["a", "b"]
    assert episode.correct is False
    assert right_answers(memory) == ["word"]


def test_the_same_feedback_twice_changes_nothing(hear, memory):
    once = hear("a", correct=False, correction="word")
    assert hear("a", correct=False, correction="word") == once
    assert len(memory) == 2


def test_a_revised_answer_is_what_the_newest_verdict_says(hear):
    hear("a", correct=False)
    assert hear("b", correct=True, supersedes="a").correct is True


def test_of_several_corrections_only_the_newest_counts_as_right(hear, memory):
    for number, word in enumerate(("one", "two", "three")):
        hear(f"f{number}", correction=word)
        assert right_answers(memory) == [word]


def test_a_correction_may_come_back(hear, memory):
    for number, word in enumerate(("one", "two", "one")):
        hear(f"f{number}", correction=word)
    assert right_answers(memory) == ["one"]


def test_an_old_correction_that_arrives_again_does_not_come_back(hear, memory):
    hear("a", correction="one")
    hear("b", correction="two")
    hear("a", correction="one")
    assert right_answers(memory) == ["two"]


def test_a_correction_that_is_taken_back_is_right_no_more(hear, memory):
    hear("a", correct=False, correction="word")
    hear("b", correct=True, supersedes="a")
    assert right_answers(memory) == ["mistake"]


def test_a_correction_that_repeats_the_answer_is_none(hear, memory):
    hear("a", correct=False, correction="mistake")
    assert right_answers(memory) == []
    assert len(memory) == 1
