import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.reports.belief_grid import FlippingRule
from learnloop.reports.ceilings import Schedule, bayes_ceiling, bayes_gate, filter_curve
from learnloop.reports.frontier import frontier

RUNS = 4_000


def simulated(rule, threshold, schedule, seed=5):
    """Return accuracy and edits of every simulated run, the belief being carried as a number."""
    rng = np.random.default_rng(seed)
    shape = (RUNS, len(schedule.centres))
    offsets = rng.integers(-schedule.jitter, schedule.jitter + 1, size=shape)
    flips = np.asarray(schedule.centres) + offsets
    stale, belief = np.zeros(RUNS, dtype=bool), np.zeros(RUNS)
    fits, edits = np.ones(RUNS), np.zeros(RUNS)
    for step in range(1, rule.steps):
        stale ^= (flips == step).any(axis=1)
        fits += ~stale
        error = stale ^ (rng.random(RUNS) < rule.eta)
        prior = belief + rule.hazard * (1 - 2 * belief)
        odds = np.log(prior / (1 - prior)) + np.where(error, 1, -1) * np.log(1 / rule.eta - 1)
        belief = 1 / (1 + np.exp(-odds))
        fire = belief >= threshold
        edits += fire
        stale ^= fire & (rng.random(RUNS) < rule.repair)
        belief = np.where(fire, belief + rule.repair * (1 - 2 * belief), belief)
    return fits / rule.steps, edits


@pytest.mark.parametrize(
    ("eta", "hazard", "scheduled"),
    [(0.0, 0.967, 0.975), (0.1, 0.920, 0.931), (0.2, 0.875, 0.885), (0.3, 0.811, 0.813)],
)
def test_the_ceilings_on_parity_are_the_known_ones(eta, hazard, scheduled):
    rule = FlippingRule(eta=eta)
    assert bayes_ceiling(rule) == pytest.approx(hazard, abs=0.0007)
    assert bayes_ceiling(rule, schedule=Schedule()) == pytest.approx(scheduled, abs=0.0007)


@pytest.mark.parametrize("repair", [1.0, 0.7])
@pytest.mark.parametrize(("eta", "threshold"), [(0.1, 0.8), (0.2, 0.8), (0.2, 0.6)])
def test_a_gate_on_a_schedule_agrees_with_simulated_runs(eta, threshold, repair):
    rule = FlippingRule(eta=eta, repair=repair)
    found = bayes_gate(rule, threshold=threshold, schedule=Schedule())
    pairs = zip((found.accuracy, found.edits), simulated(rule, threshold, Schedule()), strict=True)
    for exact, sample in pairs:
        bound = 4 * sample.std(ddof=1) / np.sqrt(RUNS)
        assert exact == pytest.approx(sample.mean(), abs=bound)


def test_without_noise_each_flip_costs_one_step_and_one_edit():
    found = bayes_gate(FlippingRule(eta=0.0), threshold=0.8, schedule=Schedule())
    assert found.accuracy == pytest.approx(117 / 120)
    assert found.edits == pytest.approx(3)
    lost = [1 - fit for fit in found.accuracy_by_step]
    assert lost[:27] == pytest.approx([0] * 27, abs=1e-9)
    assert lost[27:35] == pytest.approx([1 / 7] * 7 + [0], abs=1e-9)


def test_a_gate_that_never_fires_is_right_between_every_other_flip():
    found = bayes_gate(FlippingRule(eta=0.1), threshold=2.0, schedule=Schedule(jitter=0))
    assert found.edits == 0
    assert found.accuracy == pytest.approx(60 / 120)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 0.5), st.floats(0.01, 0.2), st.floats(0.3, 0.95))
def test_no_threshold_passes_the_ceiling(eta, hazard, threshold):
    rule = FlippingRule(eta=eta, hazard=hazard, steps=40)
    gate = bayes_gate(rule, threshold=threshold)
    assert gate.accuracy <= bayes_ceiling(rule) + 1e-3


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.2])
def test_the_ceiling_is_the_frontier_where_edits_are_free(eta):
    rule = FlippingRule(eta=eta)
    (free,) = frontier(rule, prices=(0.0,))
    assert bayes_ceiling(rule) == pytest.approx(free.accuracy, abs=1e-4)


def test_the_gates_of_the_frontier_do_better_on_flips_that_keep_their_distance():
    rule = FlippingRule(eta=0.1)
    prices = (0.0, 1.0, 4.0, 16.0)
    at_the_hazard = frontier(rule, prices=prices)
    scheduled = filter_curve(rule, schedule=Schedule(), prices=prices)
    for there, here in zip(at_the_hazard[:3], scheduled[:3], strict=True):
        assert here.accuracy > there.accuracy
        assert here.edits < there.edits
        assert (here.price, here.threshold) == (there.price, there.threshold)
    assert scheduled[0].accuracy == pytest.approx(0.931, abs=0.0007)
    assert (scheduled[3].edits, scheduled[3].threshold) == (0, None)
    assert scheduled[3].accuracy == pytest.approx(0.5)


def test_an_editor_that_fails_does_not_lower_the_ceiling():
    assert bayes_ceiling(FlippingRule(eta=0.1, repair=0.2)) == bayes_ceiling(FlippingRule(eta=0.1))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Schedule(centres=(30, 33)), "no step to two flips"),
        (lambda: Schedule(centres=(60, 30)), "must rise"),
        (lambda: Schedule(centres=(3,)), "after the first step"),
        (lambda: Schedule(jitter=-1), "jitter must be at least 0, got -1"),
        (lambda: bayes_gate(FlippingRule(eta=0.1), threshold=0.0), "above 0, got 0.0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(ParameterError, match=said):
        call()
