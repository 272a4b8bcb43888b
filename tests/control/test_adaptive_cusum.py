import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.adaptive_cusum import AdaptiveCUSUMGate
from learnloop.control.cusum import CUSUMGate

BINARY = st.lists(st.sampled_from([0.0, 1.0]), max_size=60)


@given(errors=BINARY, noise=st.floats(0.02, 0.45))
def test_where_the_noise_may_not_vary_it_is_cusum_in_units_of_the_likelihood(errors, noise):
    adaptive = AdaptiveCUSUMGate(gamma=100, floor=noise, ceiling=noise)
    unit = math.log((1 - noise) / noise)
    plain = CUSUMGate(threshold=math.log(100) / unit)
    for error in errors:
        one, other = adaptive.decide(error), plain.decide(error)
        assert one.signal == pytest.approx(unit * other.signal, abs=1e-9)
        assert (one.opened, one.change_point) == (other.opened, other.change_point)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_the_noise_is_learned_from_excursions_that_came_to_nothing(noise):
    count = 20_000
    gate = AdaptiveCUSUMGate(gamma=1e9)
    draws = np.random.default_rng(5).random(count) < noise
    for error in draws.tolist():
        decision = gate.decide(float(error))
    spread = math.sqrt(noise * (1 - noise) / count)
    prior, excursion = 10, 100  # calls that may weigh in otherwise: the prior, an open excursion
    assert abs(decision.terms["eta"] - noise) <= 4 * spread + (prior + excursion) / count


def test_errors_of_a_change_never_pass_for_noise():
    gate = AdaptiveCUSUMGate(gamma=1e6, floor=0.001)
    for _ in range(90):
        gate.decide(0.0)
    etas = {gate.decide(1.0).terms["eta"] for _ in range(50)}
    assert etas == {1 / 100}  # one error in ten, the prior, and ninety right answers
    gate.reset()
    gate.decide(0.0)
    assert gate.decide(1.0).terms["eta"] == 1 / 101  # the right answer alone was absorbed


def test_a_false_excursion_is_absorbed_when_it_is_over():
    gate = AdaptiveCUSUMGate()
    for error in (1.0, 0.0, 0.0):
        gate.decide(error)
    assert gate.decide(0.0).terms["eta"] == pytest.approx((1 + 1) / (10 + 3))
