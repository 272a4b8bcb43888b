import pytest

from learnloop.methods.calls import exactly
from learnloop.runner.forecast import make_forecast, mean_shown
from learnloop.runner.spec import make_spec
from learnloop.runner.streams import StreamFacts

FACTS = StreamFacts(
    length=100, has_form=False, query_tokens=300.0, example_tokens=50.0, answer_tokens=30.0
)


def forecast(method, **fields):
    return make_forecast(make_spec(environment="spider", method=method, **fields), FACTS)


def shares(method, **fields):
    return {one.model: one for one in forecast(method, **fields).shares}


def test_zero_shot_reads_each_query_once():
    found = shares("zero_shot", model="m")
    assert (found["m"].tokens_in, found["m"].tokens_out) == (100 * 300, 100 * 30)


def test_an_answer_is_never_longer_than_its_limit():
    found = shares("zero_shot", model="m", method_params={"max_tokens": 10})
    assert found["m"].tokens_out == 100 * 10


def test_examples_are_counted_as_memory_fills():
    # By step 100 with six of ten right: 0.6 t up to 4, so on average 4 - 4 * (4 / 0.6) / 200.
    shown = 4 - 4 * (4 / 0.6) / 200
    found = shares("self_stream_icl", model="m")
    assert found["m"].tokens_in == pytest.approx(100 * (300 + 50 * shown), abs=1)


@pytest.mark.parametrize(("length", "most"), [(10, 16), (1000, 4), (50, 16), (1, 1)])
def test_the_mean_number_of_examples_is_that_of_a_simulation(length, most):
    steps = 100  # of each query, since the formula is for a memory that fills steadily
    shown = [min(most, 0.6 * place / steps) for place in range(length * steps)]
    assert mean_shown(length, most) == pytest.approx(sum(shown) / len(shown), abs=0.01)


def test_a_policy_model_of_its_own_has_its_own_share():
    found = shares("drpg", model="m", policy_model="p", method_params={"writer": "contrastive"})
    assert set(found) == {"m", "p"}
    assert found["p"].tokens_out == 99 * 150
    one = shares("drpg", model="m", method_params={"writer": "contrastive"})
    assert one["m"].tokens_out == found["m"].tokens_out + found["p"].tokens_out


def test_self_refine_judges_and_edits_with_the_answering_model():
    assert set(shares("self_refine", model="m", policy_model="p")) == {"m"}


def test_several_agents_share_the_answers():
    found = shares("mam_stream_icl", model="a", agents=["b", "c", "d"])
    assert {name: one.tokens_out for name, one in found.items()} == dict.fromkeys("abcd", 25 * 30)


def test_a_run_without_a_model_takes_nothing():
    found = forecast("gated_prompt", model="none", method_params={"editor": "majority"})
    assert (found.calls, found.shares) == (exactly(0), ())


def test_what_is_left_of_a_run_is_its_part():
    (left,) = forecast("zero_shot", model="m").left(0.25)
    assert (left.tokens_in, left.tokens_out) == (25 * 300, 25 * 30)


def test_the_steps_of_a_spec_are_those_counted():
    assert forecast("zero_shot", model="m", steps=7).calls == exactly(7)
