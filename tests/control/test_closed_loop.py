"""The gates on 120 steps whose rule flips thrice, with an editor that obeys: published figures."""

import math

import numpy as np
import pytest

from learnloop.control import GATES

STEPS = 120
RUNS = 150
PUBLISHED_RUNS = 1000
ROUNDING = {"accuracy": 0.0005, "edits": 0.05}
TWO_DECIMALS = {"accuracy": 0.005, "edits": 0.05}
SLOW = {"hazard": 1 / 30, "fast_share": 0}
PUBLISHED = [
    ("proportional", {}, [(0.975, 3.0), (0.880, 23.6), (0.787, 39.5)]),
    ("integral", {}, [(0.925, 3.0), (0.909, 4.7), (0.832, 9.6)]),
    ("cusum", {"threshold": 2}, [(0.950, 3.0), (0.927, 4.9), (0.868, 9.2)]),
    ("cusum", {"threshold": 3}, [(0.925, 3.0), (0.910, 3.2), (0.878, 4.2)]),
    ("cusum", {"threshold": 4}, [(0.900, 3.0), (0.881, 3.0), (0.853, 3.2)]),
    ("adaptive_cusum", {"gamma": 100}, [(0.950, 3.0), (0.918, 4.0), (0.861, 4.4)]),
    ("adaptive_cusum", {"gamma": 1000}, [(0.950, 3.0), (0.892, 3.1), (0.810, 3.2)]),
    ("bayes", {"threshold": 0.5, **SLOW}, [(0.975, 3.0), (0.929, 6.3), (0.883, 10.6)]),
    ("bayes", {"threshold": 0.8, **SLOW}, [(0.966, 3.0), (0.916, 3.7), (0.870, 3.9)]),
    ("e_detector", {}, [(0.900, 3.0), (0.884, 3.0), (0.864, 3.3)]),
    ("ddm", {}, [(0.68, 2.6), (0.56, 1.8), (0.60, 1.1)]),
    ("ddm", {"warm_start": 5}, [(0.975, 3.0), (0.68, 3.1), (0.66, 2.5)]),
    (
        "page_hinkley",
        {"min_instances": 5, "delta": 0.25, "threshold": 2.0},
        [(0.925, 3.0), (0.887, 3.0), (0.798, 2.8)],
    ),
]
CASES = [
    pytest.param(name, params, noise, row, id=f"{name} {params} at {noise}")
    for name, params, rows in PUBLISHED
    for noise, row in zip((0.0, 0.1, 0.2), rows, strict=True)
]


def stream(rng, noise):
    """The rule in force at each step, and what is seen of it."""
    flips = {centre + int(rng.integers(-3, 4)) for centre in (30, 60, 90)}
    rules = np.cumsum([step in flips for step in range(STEPS)]) % 2
    return rules.tolist(), (rules ^ (rng.random(STEPS) < noise)).tolist()


def edited(gate, rules, seen):
    """Share of steps with the right prompt, and the number of edits of an editor that flips."""
    prompt, edits, right, evidence = 0, 0, 0, False
    for rule, colour in zip(rules, seen, strict=True):
        right += prompt == rule
        evidence |= colour != prompt
        if gate.decide(float(colour != prompt)).opened and evidence:
            prompt, edits, evidence = 1 - prompt, edits + 1, False
            gate.reset(changed=True)
    return right / STEPS, edits


def many(name, params, noise, count):
    make, rng = GATES.load(name), np.random.default_rng(10)
    return [edited(make(**params), *stream(rng, noise)) for _ in range(count)]


@pytest.mark.parametrize(("name", "params", "noise", "published"), CASES)
def test_a_gate_reaches_the_published_accuracy_and_edits(name, params, noise, published):
    runs = many(name, params, noise, RUNS)
    rounding = TWO_DECIMALS if name == "ddm" else ROUNDING
    for what, values, expected in zip(rounding, np.transpose(runs), published, strict=True):
        spread = values.std(ddof=1) * math.sqrt(1 / RUNS + 1 / PUBLISHED_RUNS)
        assert abs(values.mean() - expected) <= 4 * spread + rounding[what], what


@pytest.mark.parametrize(
    ("noise", "accuracy", "edits"), [(0.0, 0.96, 3.2), (0.1, 0.91, 3.9), (0.2, 0.865, 4.2)]
)
def test_the_bayes_gate_is_good_by_default_without_being_told_the_noise(noise, accuracy, edits):
    reached, spent = np.mean(many("bayes", {}, noise, 500), axis=0)
    assert reached >= accuracy
    assert spent <= edits
