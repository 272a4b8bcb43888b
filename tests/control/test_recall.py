import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control import RECALLS
from learnloop.control.recall import BestRecall
from learnloop.errors import ParameterError

RIGHT, WRONG = [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]


def test_it_is_registered():
    assert isinstance(RECALLS.create("best"), BestRecall)


def test_the_earlier_prompt_that_explains_the_evidence_is_taken():
    assert BestRecall().choose(WRONG, [WRONG, RIGHT]) == 1


def test_among_equals_the_newest_is_taken():
    assert BestRecall().choose(WRONG, [WRONG, RIGHT, RIGHT]) == 1


@pytest.mark.parametrize(("current", "earlier"), [([], [[]]), (WRONG, []), ([], [])])
def test_without_evidence_or_earlier_prompts_none_is_taken(current, earlier):
    assert BestRecall().choose(current, earlier) is None


def test_a_prompt_must_save_the_margin():
    recall = BestRecall(margin=2.0)
    assert recall.choose([1.0, 1.0, 0.0], [[1.0, 0.0, 0.0]]) is None
    assert recall.choose([1.0, 1.0, 0.0], [[0.0, 0.0, 0.0]]) == 0


def test_a_prompt_must_explain_the_evidence_and_not_just_do_better():
    recall = BestRecall(max_error=0.25)
    assert recall.choose([1.0] * 4, [[1.0, 1.0, 0.0, 0.0]]) is None
    assert recall.choose([1.0] * 4, [[1.0, 0.0, 0.0, 0.0]]) == 0


def test_only_the_newest_prompts_are_looked_at():
    assert BestRecall(keep=2).choose(WRONG, [WRONG, WRONG, RIGHT]) is None


@given(data=st.data(), count=st.integers(1, 8), margin=st.floats(0.1, 3))
def test_what_is_taken_is_the_newest_of_the_best_and_good_enough(data, count, margin):
    errors = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=count, max_size=count)
    current = data.draw(errors)
    earlier = data.draw(st.lists(errors, max_size=8))
    good = [
        (sum(one), place)
        for place, one in enumerate(earlier)
        if sum(current) - sum(one) >= margin and sum(one) / count <= 0.5
    ]
    expected = min(good)[1] if good else None
    assert BestRecall(margin=margin).choose(current, earlier) == expected


@pytest.mark.parametrize("params", [{"margin": 0.0}, {"max_error": 1.5}, {"keep": 0}])
def test_a_parameter_out_of_range_is_refused(params):
    with pytest.raises(ParameterError, match=next(iter(params))):
        BestRecall(**params)
