import dataclasses
from functools import partial

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS

BENCHMARKS = ("spider", "cosql", "bird", "hotpotqa", "ddxplus", "ds1000")
"""Their rows do not come with the package; each has a test file with rows of our own."""
BUNDLED = [name for name in ENVIRONMENTS if name.partition("_published")[0] not in BENCHMARKS]


@pytest.mark.parametrize("name", BUNDLED)
def test_every_environment_that_comes_with_its_rows_keeps_the_contract(name):
    gold_may_appear = name in {"parity", "guess", "track"}  # the words and numbers to choose from
    check_environment(partial(ENVIRONMENTS.create, name), gold_may_appear=gold_may_appear)


class Spoilt:
    """A sound environment with one fault put in."""

    def __init__(self, *, step=lambda step: step, reset=lambda query: query, length=0, seed=None):
        self.environment = ENVIRONMENTS.create("house_rules", database="shop")
        self.task = self.environment.task
        self.id = self.environment.id
        self._step, self._reset, self._length, self._seed = step, reset, length, seed

    def __len__(self):
        return len(self.environment) + self._length

    def reset(self, *, seed):
        return self._reset(self.environment.reset(seed=self._seed or seed))

    def step(self, prediction):
        return self._step(self.environment.step(prediction))


def feedback(**changes):
    return lambda step: dataclasses.replace(
        step, feedback=dataclasses.replace(step.feedback, **changes)
    )


def shows_gold(step):
    if step.query is None:
        return step
    text = f"{step.query.text} Not {step.score.gold}"
    return dataclasses.replace(step, query=dataclasses.replace(step.query, text=text))


def made_up(step):
    return dataclasses.replace(step, score=dataclasses.replace(step.score, value=1.0))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"length": 1}, "but len is"),
        ({"step": feedback(target_id="shop-001")}, "in place of"),
        ({"step": feedback(id="same")}, "comes twice"),
        ({"step": feedback(correct=True)}, "is called True"),
        ({"step": shows_gold}, "gold answers can be read"),
        ({"step": made_up}, "scores 1.0"),
    ],
)
def test_a_fault_is_found(fault, message):
    with pytest.raises(AssertionError, match=message):
        check_environment(partial(Spoilt, **fault))


def test_a_stream_that_differs_from_one_environment_to_the_next_is_found():
    seeds = iter((1, 2, 3, 4, 5, 6))
    with pytest.raises(AssertionError, match="differs in a new environment"):
        check_environment(lambda: Spoilt(seed=next(seeds)))
