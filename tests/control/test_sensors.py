import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.sensors import FeedbackMix, PartialSensor, parse_feedback
from learnloop.errors import ParameterError
from learnloop.seeding import stream
from learnloop.types import Feedback

WRONG = Feedback(id="1", target_id="q", correct=False, comment="No.", correction="42")
RIGHT = Feedback(id="2", target_id="q", correct=True)


def sensor(**chances):
    return PartialSensor(rng=stream(1, "sensor"), **chances)


def test_binary_feedback_is_right_or_wrong_alone():
    (sensed,) = sensor().sense(WRONG, step=0)
    assert (sensed.correct, sensed.comment, sensed.correction) == (False, None, None)


def test_all_of_it_arrives_where_every_probability_is_one():
    assert sensor(comment=1.0, correction=1.0).sense(WRONG, step=0) == (WRONG,)


def test_nothing_arrives_where_every_probability_is_zero():
    assert sensor(correct=0.0).sense(WRONG, step=0) == ()


def test_a_comment_may_arrive_without_right_or_wrong():
    (sensed,) = sensor(correct=0.0, comment=1.0).sense(WRONG, step=0)
    assert (sensed.correct, sensed.comment, sensed.correction) == (None, "No.", None)


def test_a_right_answer_never_brings_a_comment_or_a_correction():
    praised = Feedback(id="3", target_id="q", correct=True, comment="Good.", correction="42")
    (sensed,) = sensor(comment=1.0, correction=1.0).sense(praised, step=0)
    assert (sensed.correct, sensed.comment, sensed.correction) == (True, None, None)


def test_half_means_half():
    watcher = sensor(comment=0.5, correction=0.25)
    arrived = [watcher.sense(WRONG, step=step)[0] for step in range(2000)]
    assert 900 < sum(each.comment is not None for each in arrived) < 1100
    assert 410 < sum(each.correction is not None for each in arrived) < 590


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_what_arrives_at_a_step_does_not_depend_on_earlier_answers(rights):
    varied, same = sensor(comment=0.5, correction=0.5), sensor(comment=0.5, correction=0.5)
    for step, right in enumerate(rights):
        varied.sense(RIGHT if right else WRONG, step=step)
        same.sense(WRONG, step=step)
    assert varied.sense(WRONG, step=99) == same.sense(WRONG, step=99)


@pytest.mark.parametrize(
    ("text", "mix"),
    [
        ("binary", FeedbackMix()),
        ("comment", FeedbackMix(comment=1.0)),
        ("comment,correction=0.5", FeedbackMix(comment=1.0, correction=0.5)),
        (" comment = 0.25 , binary", FeedbackMix(comment=0.25)),
        ("correct=0.5,correction", FeedbackMix(correct=0.5, correction=1.0)),
    ],
)
def test_feedback_is_read_from_words(text, mix):
    assert parse_feedback(text) == mix


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("coment", "did you mean 'comment'"),
        ("", "known: binary"),
        ("xyz=1", "known: binary"),
        ("comment=often", "'comment=often' needs a probability"),
        ("comment=1.5", "from 0 to 1, not 1.5"),
        ("comment=nan", "from 0 to 1, not nan"),
        ("comment=", "'comment=' needs a probability"),
    ],
)
def test_a_wrong_word_is_named(text, message):
    with pytest.raises(ParameterError, match=message):
        parse_feedback(text)
