"""The editor measured alone: what its buffers are made of, and how prompts are judged."""

from math import isclose

import pytest
from editor_alone_buffers import TASKS, Composition, K, cut, default_compositions
from editor_alone_numbers import Row, by_noise, judge

from learnloop.errors import DataError, ParameterError
from learnloop.structured_prompt import read_prompt
from learnloop.types import Edit

SEEDS = range(1000, 1005)


def agrees(buffer, episode):
    """Whether an observation speaks for the prompt that was in force before the change."""
    values = read_prompt(buffer.form, buffer.prompt.text)
    return buffer.form.predict(values, episode.query) == episode.feedback[-1].observed


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("stale", "new", "corrupted"), [(0, 8, 0), (3, 5, 2), (7, 1, 0)])
def test_on_parity_stale_and_corrupted_observations_speak_for_the_old_rule(
    stale, new, corrupted, seed
):
    composition = Composition(stale=stale, new=new, corrupted=corrupted)
    buffer = cut("parity", composition, seed=seed)
    spoke = [agrees(buffer, episode) for episode in buffer.evidence]
    assert spoke[:stale] == [True] * stale
    assert sum(spoke[stale:]) == corrupted
    assert len(spoke) == stale + new


@pytest.mark.parametrize(
    ("stale", "new", "corrupted"), [(0, 0, 0), (0, 2, 3), (2, 0, 3), (-1, 2, 0), (0, 2, -1)]
)
def test_a_buffer_that_cannot_be_is_refused(stale, new, corrupted):
    with pytest.raises(ParameterError, match="observation"):
        Composition(stale=stale, new=new, corrupted=corrupted)


def test_more_stale_observations_than_there_are_is_refused():
    with pytest.raises(DataError, match="take fewer stale ones"):
        cut("parity", Composition(stale=60, new=1), seed=1000)


@pytest.mark.parametrize("task", list(TASKS))
def test_a_buffer_is_the_same_each_time_and_another_with_another_seed(task):
    composition = Composition(stale=2, new=4, corrupted=1)
    assert cut(task, composition, seed=1000).evidence == cut(task, composition, seed=1000).evidence
    assert cut(task, composition, seed=1000).evidence != cut(task, composition, seed=1001).evidence


@pytest.mark.parametrize("task", ["parity", "guess"])
def test_without_new_observations_the_old_prompt_is_right_and_with_them_it_is_not(task):
    kept = Edit(text=None, reason="")
    for seed in SEEDS:
        before = cut(task, Composition(stale=K, new=0), seed=seed)
        assert judge("parity", before, kept).right
        since = cut(task, Composition(stale=0, new=4), seed=seed)
        assert not judge("parity", since, kept).right


def test_a_belief_is_right_where_it_holds_the_number_and_is_no_wider_than_ten():
    buffer = cut("guess", Composition(stale=0, new=3), seed=1000)
    number = int(buffer.gold)
    low = min(number, 91)
    narrow = judge("guess", buffer, Edit(text=f"low: {low}\nhigh: {low + 9}", reason=""))
    wide = judge("guess", buffer, Edit(text="low: 1\nhigh: 100", reason=""))
    assert (narrow.right, narrow.width, wide.right, wide.width) == (True, 10, False, 100)
    assert wide.error == abs(number - 50)


def test_a_value_is_right_where_it_is_five_off_or_less():
    buffer = cut("track", Composition(stale=0, new=3), seed=1000)
    number = int(buffer.gold)
    step = 1 if number < 90 else -1
    errors = {}
    for off in (5, 6):
        found = judge("track", buffer, Edit(text=f"value: {number + step * off}", reason=""))
        errors[off] = (found.right, found.error)
    assert errors == {5: (True, 5), 6: (False, 6)}


def test_an_invalid_proposal_is_counted_and_the_old_prompt_judged():
    buffer = cut("parity", Composition(stale=0, new=4), seed=1000)
    found = judge("parity", buffer, Edit(text=None, reason="not valid: x", invalid=1))
    assert (found.invalid, found.right) == (True, False)


def test_noise_weighs_each_number_of_corrupted_ones_as_often_as_it_occurs():
    rows = [
        Row(
            task="parity",
            editor="e",
            stale=0,
            new=2,
            corrupted=corrupted,
            cases=1,
            right=right,
            error=0.0,
            width=0.0,
            invalid=0.0,
        )
        for corrupted, right in ((0, 1.0), (1, 0.5), (2, 0.0))
    ]
    found = {row["noise"]: row["right"] for row in by_noise(rows)}
    assert found[0.0] == 1.0
    assert isclose(found[0.1], 0.9)  # .81 · 1 + .18 · ½ + .01 · 0
    assert isclose(found[0.2], 0.8)


def test_every_composition_fits_into_eight_observations():
    assert all(1 <= each.stale + each.new <= K for each in default_compositions())
    assert len(set(default_compositions())) == len(default_compositions())
