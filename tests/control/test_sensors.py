import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.sensors import (
    FeedbackMix,
    NoisySensor,
    PartialSensor,
    flip,
    parse_feedback,
)
from learnloop.environments.parity import Parity
from learnloop.errors import ParameterError
from learnloop.seeding import stream
from learnloop.types import Feedback

WRONG = Feedback(id="1", target_id="q", correct=False, comment="No.", correction="42")
RIGHT = Feedback(id="2", target_id="q", correct=True)


def sensor(**chances):
    return PartialSensor(rng=stream(1, "sensor"), **chances)


class Everything:
    """A sensor that lets all of it arrive."""

    def sense(self, feedback, *, step):
        return (feedback,)


def noisy(rate, distort=flip):
    return NoisySensor(rate=rate, distort=distort, then=Everything(), rng=stream(1, "noise"))


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
        ("binary,noise=0.1", FeedbackMix(noise=0.1)),
        ("noise=0", FeedbackMix(noise=0.0)),
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
        ("binary,noise", "say how much noise: noise=0.1"),
        ("noise=much", "'noise=much' needs a probability"),
        ("noise=1.1", "noise must be from 0 to 1, not 1.1"),
        ("comment=", "'comment=' needs a probability"),
    ],
)
def test_a_wrong_word_is_named(text, message):
    with pytest.raises(ParameterError, match=message):
        parse_feedback(text)


def test_what_was_observed_arrives_with_right_or_wrong_and_also_alone():
    labelled = Feedback(id="4", target_id="q", correct=False, observed="Red")
    assert sensor().sense(labelled, step=0) == (labelled,)
    assert sensor(correct=0.0).sense(labelled, step=0) == ()
    alone = replace(labelled, correct=None)
    assert sensor().sense(alone, step=0) == (alone,)


def corrupted(rate, feedbacks, distort=flip):
    """The steps at which something else arrived than was sent."""
    watcher = noisy(rate, distort)
    return {
        step
        for step, feedback in enumerate(feedbacks)
        if watcher.sense(feedback, step=step) != (feedback,)
    }


def test_less_noise_corrupts_a_part_of_what_more_noise_does():
    sent = [WRONG] * 3000
    levels = [corrupted(rate, sent) for rate in (0.0, 0.1, 0.2, 1.0)]
    assert levels[0] == set()
    assert levels[1] < levels[2] < levels[3] == set(range(3000))
    for rate, steps in ((0.1, levels[1]), (0.2, levels[2])):
        assert abs(len(steps) / 3000 - rate) < 4 * math.sqrt(rate * (1 - rate) / 3000)


@given(st.lists(st.booleans(), max_size=60))
def test_what_is_corrupted_does_not_depend_on_the_answers(rights):
    varied = corrupted(0.3, [RIGHT if right else WRONG for right in rights])
    assert varied == corrupted(0.3, [WRONG] * len(rights))


@given(st.lists(st.integers(0, 5), max_size=30))
def test_what_a_wrong_message_draws_for_itself_changes_no_later_one(draws):
    def greedy(feedback, *, rng):
        rng.random(size=int(feedback.comment))
        return replace(feedback, comment=f"{rng.random():.6f}")

    sent = [replace(WRONG, comment=str(count)) for count in draws]
    few, many = noisy(0.2, greedy), noisy(0.6, greedy)
    for step, feedback in enumerate(sent):
        less, more = few.sense(feedback, step=step), many.sense(feedback, step=step)
        assert less in (more, (feedback,))
    modest = [replace(WRONG, comment="0")] * len(sent)
    assert corrupted(0.6, sent, greedy) == corrupted(0.6, modest, greedy)


def test_a_flipped_verdict_takes_the_truth_with_it():
    told = replace(WRONG, observed="Red")
    assert flip(told, rng=stream(1, "x")) == replace(
        told, correct=True, comment=None, correction=None, observed=None
    )
    assert flip(RIGHT, rng=stream(1, "x")).correct is False
    nothing = replace(WRONG, correct=None)
    assert flip(nothing, rng=stream(1, "x")) == nothing


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_noise_is_a_probability(rate):
    with pytest.raises(ParameterError, match="noise must be from 0 to 1"):
        noisy(rate)


def test_a_corrupted_colour_is_the_other_one():
    feedback = Feedback(id="1", target_id="q", correct=False, comment="it was Red", observed="Red")
    assert Parity().distort(feedback, rng=stream(1, "x")) == replace(
        feedback, correct=True, comment=None, observed="Blue"
    )
