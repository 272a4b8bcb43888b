import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.hidden_number import HiddenNumber
from learnloop.environments.track import Track
from learnloop.errors import ParameterError
from learnloop.structured_prompt import write_prompt
from learnloop.types import Episode, Prediction, Query, Source

ROUNDING = 0.5


def numbers(golds, seed=0, **params):
    return [int(gold) for gold in golds(Track(**params), seed)]


def at(step):
    return Query(id=f"step-{step}", text=f"step {step}")


def exact(step, number):
    """An observation that says exactly where the number was."""
    return seen(step, number, number)


def seen(step, answer, number, *, wrong=False):
    hidden = HiddenNumber(bucket=10, corrupts="direction")
    hidden.begin([number])
    made = hidden.step(Prediction(query_id="step-0", text=str(answer))).feedback
    if wrong:
        made = hidden.distort(made, rng=np.random.default_rng(0))
    return Episode(
        id=f"step-{step}",
        query=at(step),
        answer=str(answer),
        step=step,
        source=Source(kind="model"),
        feedback=(made,),
    )


def rmse(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def held(path, every):
    return rmse([number - path[step // every * every] for step, number in enumerate(path)])


def sent_on_delta(path, delta):
    current, edits, errors = path[0], 0, []
    for number in path:
        errors.append(number - current)
        if abs(number - current) >= delta:
            current, edits = number, edits + 1
    return rmse(errors), edits


def test_a_sinusoid_begins_where_its_phase_says(golds):
    """50 + 40 sin(2 pi t / 80): at 0, a quarter (20 steps), a half, three quarters."""
    path = numbers(golds, phase=0)
    assert [path[step] for step in (0, 20, 40, 60, 80, 100)] == [50, 90, 50, 10, 50, 90]
    assert path[10] == round(50 + 40 * math.sin(math.pi / 4))
    assert numbers(golds, phase=0.25)[0] == 90


def test_a_sinusoid_moves_no_faster_than_its_greatest_speed(golds):
    speed = 40 * 2 * math.pi * 1.5 / 120
    for seed in range(10):
        moves = [abs(b - a) for a, b in pairwise(numbers(golds, seed))]
        assert max(moves) <= speed + 2 * ROUNDING


@pytest.mark.parametrize(("every", "expected"), [(3, 2.87), (5, 5.42), (8, 9.21), (15, 17.7)])
def test_holding_the_value_has_the_error_known_for_the_sinusoid(golds, every, expected):
    assert held(numbers(golds, phase=0), every) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize(
    ("delta", "expected", "edits"), [(5, 4.15, 35), (10, 6.60, 17), (20, 13.5, 5)]
)
def test_sending_on_delta_has_the_error_known_for_the_sinusoid(golds, delta, expected, edits):
    error, made = sent_on_delta(numbers(golds, phase=0), delta)
    assert error == pytest.approx(expected, abs=2 * ROUNDING)
    assert abs(made - edits) <= 3


def test_a_rectangular_path_is_at_one_of_two_levels(golds):
    path = numbers(golds, path="rectangular", phase=0)
    assert set(path) == {10, 90}
    assert [step for step in range(1, 120) if path[step] != path[step - 1]] == [40, 80]


def test_an_exponential_path_covers_the_same_share_of_its_way_at_each_step(golds):
    """Towards 90, it comes nearer by the factor e^(-3/40) a step, and 95 % of the way in 40."""
    path = numbers(golds, path="exponential", phase=0)
    left = [90 - number for number in path[:20]]
    assert all(
        abs(after - before * math.exp(-3 / 40)) <= 2 * ROUNDING for before, after in pairwise(left)
    )
    assert path[0] + path[40] == 100
    assert (90 - path[39]) / (90 - path[0]) == pytest.approx(math.exp(-3 * 39 / 40), abs=0.01)


@pytest.mark.parametrize("path", ["sinusoid", "rectangular", "exponential"])
def test_every_path_stays_between_10_and_90_and_has_no_jump_where_it_should_have_none(golds, path):
    for seed in range(10):
        made = numbers(golds, seed, path=path)
        assert min(made) >= 10
        assert max(made) <= 90
        if path != "rectangular":
            assert max(abs(b - a) for a, b in pairwise(made)) <= 7


def test_the_phase_comes_from_the_seed(golds):
    assert len({tuple(numbers(golds, seed)) for seed in range(10)}) == 10
    assert numbers(golds, 3) == numbers(golds, 3)


def test_a_value_is_the_answer_until_it_is_edited():
    form = Track().task.prompt_form
    assert write_prompt(form, form.initial) == "value: 50"
    assert form.predict({"value": 63}, at(0)) == form.predict({"value": 63}, at(99)) == "63"


def test_a_slope_is_followed_from_the_step_at_which_the_value_held():
    form = Track(slope=True).task.prompt_form
    values = {"value": 40, "slope": -25, "since": 10}
    assert form.predict(values, at(10)) == "40"
    assert form.predict(values, at(14)) == "30"
    assert form.predict(values, at(8)) == "45"
    assert form.predict(values, at(100)) == "1"
    assert write_prompt(form, form.initial) == "value: 50\nslope: 0\nsince: 0"


def test_the_fit_is_the_middle_of_the_newest_observation():
    assert Track().task.prompt_form.fit({"value": 50}, [seen(4, 50, 63)]) == {"value": 64}


def test_an_older_observation_counts_by_how_far_the_number_can_have_come():
    """At 4 a step, 61-69 three steps ago leaves 49-81: no news for 60-69, and it stays 64."""
    form = Track().task.prompt_form
    assert form.fit({"value": 50}, [seen(1, 60, 63), seen(4, 50, 63)]) == {"value": 64}
    assert form.fit({"value": 50}, [exact(3, 60), seen(4, 50, 63)]) == {"value": 62}


def test_a_false_newest_observation_is_outvoted():
    """Two that say 60 to 69 and one that says 31 to 40; 4 a step is added: 52-77, 56-73."""
    form = Track().task.prompt_form
    evidence = [seen(2, 50, 63), seen(3, 50, 63), seen(4, 50, 63, wrong=True)]
    assert form.fit({"value": 50}, evidence) == {"value": (56 + 73) // 2}


def test_evidence_that_says_nothing_leaves_the_prompt():
    for environment in (Track(), Track(slope=True)):
        form = environment.task.prompt_form
        assert form.fit(form.initial, []) == form.initial


@given(st.integers(20, 80), st.sampled_from([-30, -20, -10, 0, 10, 20, 30]))
def test_the_fit_with_a_slope_finds_a_straight_line(number, slope):
    form = Track(slope=True).task.prompt_form
    steps = (0, 1, 2, 3, 4, 5)
    path = [number + slope // 10 * step for step in steps]
    evidence = [exact(step, value) for step, value in zip(steps, path, strict=True)]
    assert form.fit(form.initial, evidence) == {"value": path[-1], "slope": slope, "since": 5}


def test_from_one_observation_the_slope_stays():
    form = Track(slope=True).task.prompt_form
    old = {"value": 40, "slope": 12, "since": 3}
    assert form.fit(old, [exact(9, 70)]) == {"value": 70, "slope": 12, "since": 9}


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"length": 0}, "length"),
        ({"cycles": 0}, "cycles"),
        ({"cycles": float("inf")}, "cycles"),
        ({"path": "zigzag"}, "path"),
        ({"phase": 1.5}, "phase"),
        ({"phase": float("nan")}, "phase"),
    ],
)
def test_parameters_out_of_range_are_refused(params, named):
    with pytest.raises(ParameterError, match=named):
        Track(**params)
