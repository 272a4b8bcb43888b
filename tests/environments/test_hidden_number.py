from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from learnloop.environments.hidden_number import (
    HiddenNumber,
    parse_number,
    read_number,
    step_of,
    tell,
)
from learnloop.errors import ParameterError
from learnloop.types import Episode, Prediction, Source


def answered(answer, number, *, corrupts="direction"):
    hidden = HiddenNumber(bucket=10, corrupts=corrupts)
    query = hidden.begin([number])
    return hidden, hidden.step(Prediction(query_id=query.id, text=answer))


def episode(step, answer, feedback):
    hidden = HiddenNumber(bucket=10, corrupts="direction")
    query = hidden.begin([1] * (step + 1))
    for _ in range(step):
        query = hidden.step(Prediction(query_id=query.id, text="1")).query
    return Episode(
        id=query.id,
        query=query,
        answer=answer,
        step=step,
        source=Source(kind="model"),
        feedback=(feedback,),
    )


def test_the_score_is_the_distance_of_the_99_that_are_possible():
    assert answered("50", 83)[1].score.value == pytest.approx(1 - 33 / 99)
    assert answered("1", 100)[1].score.value == 0
    assert answered("83", 83)[1].score.value == 1
    assert answered("50", 83)[1].score.gold == "83"


@pytest.mark.parametrize("answer", ["", "blue", "0", "101", "-5", "50.0", "9" * 5000])
def test_an_answer_that_is_no_number_from_1_to_100_scores_0_and_says_so(answer):
    _, step = answered(answer, 50)
    assert step.score.value == 0
    assert step.feedback.correct is False
    assert step.feedback.observed is None
    assert step.feedback.comment.endswith("is no whole number from 1 to 100")


def test_feedback_depends_on_the_number_through_the_hint_alone():
    """Two numbers with one hint get one feedback; what is right says no more than that."""
    assert answered("50", 60)[1].feedback == answered("50", 69)[1].feedback
    assert answered("50", 69)[1].feedback != answered("50", 70)[1].feedback
    right = answered("50", 50)[1].feedback
    assert (right.correct, right.comment, right.observed) == (True, None, "50")
    assert (right.correction, right.value) == (None, None)


def test_a_wrong_direction_changes_all_that_tells_of_it():
    hidden, step = answered("50", 63)
    wrong = hidden.distort(step.feedback, rng=np.random.default_rng(0))
    assert (wrong.correct, wrong.comment) == (False, "50 is too high by 10-19")
    assert (wrong.observed, wrong.id) == ("31-40", step.feedback.id)


def test_a_right_answer_is_called_too_low_as_often_as_too_high():
    hidden, step = answered("50", 50)
    rng = np.random.default_rng(1)
    seen = [hidden.distort(step.feedback, rng=rng) for _ in range(1000)]
    assert {one.observed for one in seen} == {"41-49", "51-59"}
    assert not any(one.correct for one in seen)
    low = sum(one.observed == "51-59" for one in seen)
    assert stats.binomtest(low, 1000, 0.5).pvalue > 1e-6


@pytest.mark.parametrize(("answer", "number", "others"), [("50", 63, 11), ("1", 1, 10)])
def test_a_wrong_message_is_uniform_over_the_others_and_never_the_true_one(answer, number, others):
    """About 50 eleven others are possible, about 1 ten: too low by 1-9, 10-19, to 90-99."""
    hidden, step = answered(answer, number, corrupts="message")
    rng = np.random.default_rng(2)
    draws = [hidden.distort(step.feedback, rng=rng).observed for _ in range(5000)]
    kinds, counts = np.unique(draws, return_counts=True)
    assert len(kinds) == others
    assert step.feedback.observed not in kinds
    assert ((counts - 5000 / others) ** 2 / (5000 / others)).sum() < stats.chi2.ppf(
        1 - 1e-6, others - 1
    )


@pytest.mark.parametrize("corrupts", ["direction", "message"])
@pytest.mark.parametrize("answer", ["50", "63", "2", "none"])
def test_a_distortion_draws_one_number_whatever_was_answered(answer, corrupts):
    hidden, step = answered(answer, 63, corrupts=corrupts)
    rng, plain = np.random.default_rng(3), np.random.default_rng(3)
    hidden.distort(step.feedback, rng=rng)
    plain.random()
    assert rng.random() == plain.random()


def test_where_no_wrong_direction_is_possible_the_feedback_stays():
    hidden, step = answered("20", 75)
    assert hidden.distort(step.feedback, rng=np.random.default_rng(0)) == step.feedback


def told(answer, feedback):
    return tell(episode(3, answer, feedback), say=str)


def test_what_was_observed_is_told_as_where_the_number_was():
    assert told("50", answered("50", 63)[1].feedback) == "60-69"
    assert told("63", answered("63", 63)[1].feedback) == "63"
    assert told("85", answered("85", 97)[1].feedback) == "95-100"


def test_feedback_that_came_in_part_is_told_as_far_as_it_came():
    whole = answered("50", 63)[1].feedback
    words, alone = replace(whole, observed=None), replace(whole, observed=None, comment=None)
    assert told("50", words) == "50 is too low by 10-19"
    assert told("50", alone) == "'50' was not right"
    right = replace(answered("63", 63)[1].feedback, observed=None)
    assert told("63", right) == "63"
    none = answered("blue", 63)[1].feedback
    assert told("blue", none) == "'blue' is no whole number from 1 to 100"


@pytest.mark.parametrize(
    ("reply", "number"),
    [("64", "64"), (" 64\n", "64"), ("At step 41: 64.", "64"), ("-3", "-3"), ("none", "none")],
)
def test_the_last_number_of_a_reply_is_the_answer(reply, number):
    assert parse_number(reply) == number


def test_only_numbers_from_1_to_100_are_answers():
    assert [read_number(text) for text in ("1", "100", "0", "101", "x")] == [
        1,
        100,
        None,
        None,
        None,
    ]


def test_a_query_tells_its_step_and_nothing_else():
    one, other = (
        HiddenNumber(bucket=10, corrupts="direction"),
        HiddenNumber(bucket=10, corrupts="direction"),
    )
    assert one.begin([5, 6]) == other.begin([80, 90])
    following = one.step(Prediction(query_id="step-0", text="5")).query
    assert (following.id, following.text, step_of(following)) == ("step-1", "step 1", 1)


@pytest.mark.parametrize(
    ("params", "named"),
    [({"bucket": 0}, "bucket"), ({"bucket": 101}, "bucket"), ({"corrupts": "all"}, "corrupts")],
)
def test_parameters_out_of_range_are_refused(params, named):
    with pytest.raises(ParameterError, match=named):
        HiddenNumber(**{"bucket": 10, "corrupts": "direction"} | params)
