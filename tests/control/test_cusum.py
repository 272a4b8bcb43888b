import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.cusum import CUSUMGate, likelihood_setpoint
from learnloop.control.proportional import ProportionalGate

RATES = st.floats(0.01, 0.99)
BINARY = st.lists(st.sampled_from([0.0, 1.0]), max_size=60)


def walk_run_length(p, m):
    """Mean steps of a walk, held at 0, that goes up with probability p until it is at m."""
    if p == 0.5:
        return m * (m + 1)
    r = (1 - p) / p
    return (r * (r**m - 1) / (r - 1) ** 2 - m / (r - 1)) / p


def exact_run_length(p, m):
    """The same of the gate itself, from the transitions between its states."""
    stay = np.zeros((m, m))
    for state in range(m):
        for error, chance in ((1.0, p), (0.0, 1 - p)):
            gate = CUSUMGate(threshold=m)
            for _ in range(state):
                gate.decide(1.0)
            decision = gate.decide(error)
            if not decision.opened:
                stay[state, int(decision.signal)] += chance
    return np.linalg.solve(np.eye(m) - stay, np.ones(m))[0]


def run_lengths(p, m, runs, seed):
    rng = np.random.default_rng(seed)
    lengths, gate, length = [], CUSUMGate(threshold=m), 0
    while len(lengths) < runs:
        for error in (rng.random(10_000) < p).astype(float).tolist():
            length += 1
            if gate.decide(error).opened:
                lengths.append(length)
                gate.reset()
                length = 0
    return np.array(lengths[:runs])


@pytest.mark.parametrize(
    ("p", "m", "published"),
    [
        (0.1, 2, 110),
        (0.1, 3, 1020),
        (0.1, 4, 9220),
        (0.2, 3, 135),
        (0.2, 4, 560),
        (0.2, 5, 2265),
        (0.5, 3, 12),
        (0.8, 4, 6.11),
        (0.9, 3, 3.59),
        (0.9, 4, 4.84),
    ],
)
def test_the_chain_of_the_gates_states_has_the_exact_run_length(p, m, published):
    assert exact_run_length(p, m) == pytest.approx(walk_run_length(p, m), rel=1e-9)
    assert exact_run_length(p, m) == pytest.approx(published, abs=0.005)


@pytest.mark.parametrize(
    ("noise", "m", "to_false_alarm", "delay"), [(0.1, 3, 1020, 3.59), (0.2, 4, 560, 6.11)]
)
def test_run_length_and_delay_on_drawn_errors(noise, m, to_false_alarm, delay):
    for p, expected, runs in ((noise, to_false_alarm, 600), (1 - noise, delay, 10_000)):
        lengths = run_lengths(p, m, runs, seed=3)
        bound = 4 * lengths.std(ddof=1) / math.sqrt(runs)
        assert abs(lengths.mean() - expected) <= bound + 0.005


@given(errors=BINARY, healthy=RATES, stale=RATES, gamma=st.floats(2, 1000))
def test_it_is_pages_test_of_the_likelihood_divided_by_what_an_error_adds(
    errors, healthy, stale, gamma
):
    healthy, stale = sorted((healthy, stale))
    if stale - healthy < 1e-3:
        return
    unit = math.log(stale / healthy)
    gate = CUSUMGate(
        setpoint=likelihood_setpoint(healthy=healthy, stale=stale),
        threshold=math.log(gamma) / unit,
    )
    page = 0.0
    for error in errors:
        page = max(0.0, page + (unit if error else math.log((1 - stale) / (1 - healthy))))
        assert gate.decide(error).signal * unit == pytest.approx(page, abs=1e-6)


@given(noise=st.floats(0.01, 0.49))
def test_symmetric_noise_has_its_set_point_at_one_half_whatever_its_rate(noise):
    assert likelihood_setpoint(healthy=noise, stale=1 - noise) == pytest.approx(0.5)


@given(errors=BINARY)
def test_with_threshold_one_it_is_the_proportional_gate(errors):
    one, other = CUSUMGate(threshold=1), ProportionalGate()
    for error in errors:
        assert one.decide(error).opened == other.decide(error).opened
        one.reset()


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40))
def test_the_change_point_is_the_likeliest_start_of_a_stale_spell(errors):
    gate = CUSUMGate()
    decision = [gate.decide(error) for error in errors][-1]
    net = [sum(2 * error - 1 for error in errors[start:]) for start in range(len(errors) + 1)]
    if decision.change_point is None:
        assert max(net) == 0
    else:
        assert net[decision.change_point] == max(net)


def test_an_edit_that_kept_the_prompt_leaves_the_change_where_it_was():
    gate = CUSUMGate(threshold=2)
    for error in (0.0, 1.0, 1.0):
        gate.decide(error)
    gate.reset(changed=False)
    assert gate.decide(1.0).change_point == 1
    gate.reset(changed=True)
    assert gate.decide(1.0).change_point == 4
