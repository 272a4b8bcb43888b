import numpy as np
import pytest

from learnloop.environments.parity import Parity
from learnloop.errors import ParameterError, ProposalError
from learnloop.structured_prompt import check_values
from learnloop.types import Episode, Prediction, Query, Source


def rules(walked):
    """The colour of even numbers at each step."""
    other = {"Red": "Blue", "Blue": "Red"}
    return [
        step.score.gold if int(query.text) % 2 == 0 else other[step.score.gold]
        for query, step in walked
    ]


def reversals(walked):
    even = rules(walked)
    return [step for step in range(1, len(even)) if even[step] != even[step - 1]]


def seen(number, colour):
    environment = Parity()
    environment.reset(seed=0)
    step = environment.step(Prediction(query_id="step-0", text=colour))
    feedback = type(step.feedback)(id="f", target_id="q", correct=True, observed=colour)
    return Episode(
        id="q",
        query=Query(id="q", text=str(number)),
        answer="Red",
        step=0,
        source=Source(kind="model"),
        feedback=(feedback,),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_reverses_within_three_steps_of_30_60_and_90(walk, seed):
    made = reversals(walk(Parity(), seed=seed, answer="Red"))
    assert len(made) == 3
    assert all(abs(step - planned) <= 3 for step, planned in zip(made, [30, 60, 90], strict=True))


def test_without_jitter_it_reverses_on_the_quarters(walk):
    walked = walk(Parity(length=40, jitter=0), seed=0, answer="Red")
    assert reversals(walked) == [10, 20, 30]


def test_inputs_are_the_numbers_from_1_to_10(walk):
    numbers = {int(query.text) for query, _ in walk(Parity(), seed=1, answer="Red")}
    assert numbers == set(range(1, 11))


def test_either_rule_can_hold_first_and_the_first_prompt_states_it(walk):
    firsts = set()
    for seed in range(10):
        environment = Parity()
        first = rules(walk(environment, seed=seed, answer="Red"))[0]
        assert environment.task.prompt_form.initial["even"] == first
        firsts.add(first)
    assert firsts == {"Red", "Blue"}


def test_with_a_random_start_the_first_prompt_is_wrong_about_half_of_the_time(walk):
    stale = 0
    for seed in range(40):
        environment = Parity(start="random")
        first = rules(walk(environment, seed=seed, answer="Red"))[0]
        stale += environment.task.prompt_form.initial["even"] != first
    assert 6 <= stale <= 34  # a fair coin leaves this range once in 250,000


def test_a_corrupted_feedback_names_the_other_colour():
    environment = Parity()
    environment.reset(seed=0)
    feedback = environment.step(Prediction(query_id="step-0", text="Red")).feedback
    wrong = environment.distort(feedback, rng=np.random.default_rng(0))
    assert {feedback.observed, wrong.observed} == {"Red", "Blue"}
    assert wrong.correct is not feedback.correct
    assert environment.distort(wrong, rng=np.random.default_rng(0)) == feedback


def test_the_same_colour_is_observed_whatever_was_answered(walk):
    red, blue = (walk(Parity(), seed=5, answer=answer) for answer in ("Red", "Blue"))
    pairs = zip(red, blue, strict=True)
    assert all(a.feedback.observed == b.feedback.observed for (_, a), (_, b) in pairs)


def test_a_prompt_answers_by_parity():
    form = Parity().task.prompt_form
    values = {"even": "Blue", "odd": "Red"}
    assert form.predict(values, Query(id="q", text="10")) == "Blue"
    assert form.predict(values, Query(id="q", text="7")) == "Red"


def test_an_observation_names_the_parity():
    assert Parity().task.prompt_form.observe(seen(4, "Blue")) == "4 is even: Blue, so even: Blue"
    assert Parity().task.prompt_form.observe(seen(7, "Red")) == "7 is odd: Red, so even: Blue"


def test_the_fit_follows_most_of_the_observations_and_stays_on_a_tie():
    form, old = Parity().task.prompt_form, {"even": "Red", "odd": "Blue"}
    new = {"even": "Blue", "odd": "Red"}
    against, for_it = seen(4, "Blue"), seen(3, "Blue")
    assert form.fit(old, [against, against, for_it]) == new
    assert form.fit(old, [against, for_it]) == old
    assert form.fit(new, [against, for_it]) == new
    assert form.fit(old, []) == old


def test_one_colour_for_both_is_no_prompt():
    with pytest.raises(ProposalError, match="different colours"):
        check_values(Parity().task.prompt_form, {"even": "Red", "odd": "Red"})


@pytest.mark.parametrize(
    "params", [{"length": 7}, {"jitter": 15}, {"jitter": -1}, {"start": "unknown"}]
)
def test_parameters_out_of_range_are_refused(params):
    with pytest.raises(ParameterError, match=next(iter(params))):
        Parity(**params)
