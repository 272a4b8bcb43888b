import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.drift import regimes
from learnloop.environments.guess import Guess
from learnloop.environments.parity import Parity
from learnloop.types import Prediction


def changes(found):
    return [step for step in range(1, len(found)) if found[step] != found[step - 1]]


def test_without_jitter_changes_come_when_they_are_planned():
    found = regimes([30, 60, 90], length=120, jitter=0, rng=np.random.default_rng(0))
    assert changes(found) == [30, 60, 90]
    assert found[0] == 0
    assert found[-1] == 3


@given(st.integers(0, 10_000), st.integers(0, 14))
def test_a_change_is_at_most_the_jitter_from_where_it_is_planned(seed, jitter):
    found = regimes([30, 60, 90], length=120, jitter=jitter, rng=np.random.default_rng(seed))
    assert len(changes(found)) == 3
    pairs = zip(changes(found), [30, 60, 90], strict=True)
    assert all(abs(made - planned) <= jitter for made, planned in pairs)


def test_every_place_within_the_jitter_comes_up():
    made = [
        changes(regimes([30], length=60, jitter=3, rng=np.random.default_rng(seed)))[0]
        for seed in range(200)
    ]
    assert set(made) == {27, 28, 29, 30, 31, 32, 33}


def test_nothing_planned_is_one_regime():
    assert set(regimes([], length=9, jitter=3, rng=np.random.default_rng(0))) == {0}


@pytest.mark.parametrize("make", [Parity, Guess])
def test_the_score_is_tagged_where_what_is_right_changes_and_nowhere_else(make):
    environment = make(jitter=0)
    query = environment.reset(seed=3)
    tagged = []
    for step in range(len(environment)):
        made = environment.step(Prediction(query_id=query.id, text="50"))
        if "changed" in made.score.tags:
            tagged.append(step)
        query = made.query or query
    assert tagged == [30, 60, 90]
