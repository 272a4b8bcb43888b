import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from learnloop.environments.guess import Guess
from learnloop.environments.hidden_number import HiddenNumber
from learnloop.errors import ParameterError, ProposalError
from learnloop.structured_prompt import check_values
from learnloop.types import Episode, Prediction, Query, Source

FORM = Guess().task.prompt_form
ANY = {"low": 1, "high": 100}


def observed(answers, number):
    """Episodes of some answers to one number."""
    hidden = HiddenNumber(bucket=10, corrupts="direction")
    query, episodes = hidden.begin([number] * len(answers)), []
    for count, answer in enumerate(answers):
        step = hidden.step(Prediction(query_id=query.id, text=str(answer)))
        episodes.append(
            Episode(
                id=query.id,
                query=query,
                answer=str(answer),
                step=count,
                source=Source(kind="model"),
                correct=step.feedback.correct,
                feedback=(step.feedback,),
            )
        )
        query = step.query
    return episodes


@pytest.mark.parametrize("seed", range(20))
def test_the_number_jumps_within_three_steps_of_every_thirtieth(golds, seed):
    numbers = golds(Guess(), seed)
    jumps = [step for step in range(1, 120) if numbers[step] != numbers[step - 1]]
    assert len(jumps) <= 3
    assert all(min(abs(step - planned) for planned in (30, 60, 90)) <= 3 for step in jumps)


def test_numbers_are_uniform_from_1_to_100(golds):
    """Without a jitter and with a jump a step every number is a draw of its own."""
    environment = Guess(length=5000, period=1, jitter=0)
    counts = np.bincount([int(gold) for gold in golds(environment, 7)], minlength=101)[1:]
    assert len(counts) == 100
    assert ((counts - 50) ** 2 / 50).sum() < stats.chi2.ppf(1 - 1e-6, 99)


def test_a_period_as_long_as_the_stream_has_no_jump(golds):
    assert len(set(golds(Guess(period=120), 3))) == 1


def test_the_answer_of_a_prompt_is_its_middle():
    query = Query(id="q", text="step 3")
    assert FORM.predict(ANY, query) == "50"
    assert FORM.predict({"low": 60, "high": 69}, query) == "64"
    assert FORM.predict({"low": 7, "high": 7}, query) == "7"


def test_the_first_prompt_believes_in_every_number():
    environment = Guess()
    environment.reset(seed=3)
    assert environment.task.prompt_form.initial == {"low": 1, "high": 100}


def test_bounds_the_wrong_way_round_are_no_prompt():
    with pytest.raises(ProposalError, match="low is 70 and must not be above high, which is 60"):
        check_values(FORM, {"low": 70, "high": 60})


def test_the_fit_to_one_observation_is_what_it_leaves_of_the_belief():
    low_by_ten = observed([50], 63)
    assert FORM.fit(ANY, low_by_ten) == {"low": 60, "high": 69}
    assert FORM.fit({"low": 1, "high": 64}, low_by_ten) == {"low": 60, "high": 64}


def test_a_belief_that_the_observation_rules_out_is_given_up():
    assert FORM.fit({"low": 1, "high": 20}, observed([50], 63)) == {"low": 60, "high": 69}


def test_evidence_that_says_nothing_leaves_the_belief():
    assert FORM.fit({"low": 5, "high": 9}, []) == {"low": 5, "high": 9}
    assert FORM.fit({"low": 5, "high": 9}, observed(["none"], 63)) == {"low": 5, "high": 9}


@given(st.integers(1, 100), st.lists(st.integers(1, 100), min_size=1, max_size=8))
def test_the_fit_to_true_hints_holds_the_number(number, answers):
    fitted = FORM.fit(ANY, observed(answers, number))
    assert fitted["low"] <= number <= fitted["high"]


@given(st.integers(1, 100))
def test_answering_the_middle_of_what_is_left_finds_the_number_within_five_edits(number):
    """A hint leaves ten numbers at most, and each further one halves them: 10, 5, 2, 1."""
    values, query = ANY, Query(id="q", text="step 0")
    for _ in range(5):
        values = FORM.fit(values, observed([FORM.predict(values, query)], number))
    assert FORM.predict(values, query) == str(number)


def test_most_of_the_observations_outvote_a_false_one():
    environment = Guess()
    true = observed([50, 60, 70], 63)
    hidden = HiddenNumber(bucket=10, corrupts="direction")
    step = hidden.step(Prediction(query_id=hidden.begin([63]).id, text="50"))
    wrong = hidden.distort(step.feedback, rng=np.random.default_rng(0))
    false = Episode(
        id="step-9",
        query=Query(id="step-9", text="step 9"),
        answer="50",
        step=9,
        source=Source(kind="model"),
        feedback=(wrong,),
    )
    assert wrong.observed == "31-40"
    fitted = environment.task.prompt_form.fit(ANY, [*true, false])
    assert fitted == {"low": 61, "high": 69}


def test_noise_changes_neither_the_number_nor_the_queries(walk):
    clean = walk(Guess(), seed=4)
    environment, rng, noisy = Guess(), np.random.default_rng(0), []
    query = environment.reset(seed=4)
    while query is not None:
        step = environment.step(Prediction(query_id=query.id, text="50"))
        environment.distort(step.feedback, rng=rng)
        noisy.append((query, step))
        query = step.query
    assert noisy == clean


def test_queries_of_two_seeds_are_the_same(walk):
    one, other = ([query for query, _ in walk(Guess(), seed=seed)] for seed in (1, 2))
    assert one == other


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"length": 0}, "length"),
        ({"period": 0}, "period"),
        ({"jitter": 15}, "jitter"),
        ({"jitter": -1}, "jitter"),
        ({"corrupts": "all"}, "corrupts"),
    ],
)
def test_parameters_out_of_range_are_refused(params, named):
    with pytest.raises(ParameterError, match=named):
        Guess(**params)
