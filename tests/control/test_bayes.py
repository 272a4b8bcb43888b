import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.bayes import BayesGate

LEVELS = (0.005, 0.05, 0.1, 0.15, 0.2, 0.3)
EVENTS = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, "changed", "kept"]), st.floats(0, 1)), max_size=60
)


class JointFilter:
    """The forward recursion over (stale?, noise level) with whole matrices; row 0 is right."""

    def __init__(self, levels, hazard, success):
        self.levels = np.array(levels)
        self.drift = np.array([[1 - hazard, hazard], [hazard, 1 - hazard]])
        self.edit = np.array([[1 - success, success], [success, 1 - success]])
        self.joint = np.outer([1.0, 0.0], np.ones(len(levels)) / len(levels))

    def observe(self, error):
        rates = np.stack([self.levels, 1 - self.levels])
        self.joint = (self.drift.T @ self.joint) * rates**error * (1 - rates) ** (1 - error)
        self.joint /= self.joint.sum()
        return self.joint[1].sum()


@given(
    events=EVENTS,
    hazard=st.floats(0.001, 0.3),
    success=st.floats(0, 1),
    levels=st.lists(st.floats(0.001, 0.49), min_size=1, max_size=5),
)
def test_it_is_the_forward_filter_of_the_joint_model(events, hazard, success, levels):
    gate = BayesGate(hazard=hazard, success=success, noise_levels=tuple(levels))
    model = JointFilter(levels, hazard, success)
    for event in events:
        if event == "changed":
            model.joint = model.edit.T @ model.joint
        if isinstance(event, str):
            gate.reset(changed=event == "changed")
            continue
        decision = gate.decide(event)
        assert decision.signal == pytest.approx(model.observe(event), abs=1e-9)
        noise = (model.joint.sum(axis=0) * model.levels).sum()
        assert decision.terms["eta"] == pytest.approx(noise, abs=1e-9)


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=40), noise=st.floats(0.01, 0.4))
def test_with_one_noise_level_it_is_the_two_state_filter(errors, noise):
    gate, hazard, stale = BayesGate(noise_levels=(noise,), hazard=0.05), 0.05, 0.0
    for error in errors:
        before = stale * (1 - hazard) + (1 - stale) * hazard
        if_stale, if_right = (1 - noise, noise) if error else (noise, 1 - noise)
        stale = before * if_stale / (before * if_stale + (1 - before) * if_right)
        assert gate.decide(error).signal == pytest.approx(stale, abs=1e-12)


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=40), noise=st.floats(0.01, 0.4))
def test_at_a_known_noise_an_error_of_one_half_says_nothing(errors, noise):
    gate = BayesGate(noise_levels=(noise,), hazard=0.05)
    before = [gate.decide(error).signal for error in (0.0, *errors)][-1]
    drifted = before * 0.95 + (1 - before) * 0.05
    assert gate.decide(0.5).signal == pytest.approx(drifted, abs=1e-12)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2, 0.3])
def test_the_noise_is_learned(noise):
    gate = BayesGate()
    for error in (np.random.default_rng(6).random(3000) < noise).tolist():
        gate.decide(float(error))
    assert gate.decide(0.0).terms["eta"] == pytest.approx(noise, abs=0.01)


def test_an_edit_that_kept_the_prompt_changes_nothing():
    one, other = BayesGate(), BayesGate()
    for error in (0.0, 1.0, 1.0, 0.0, 1.0):
        assert one.decide(error) == other.decide(error)
        one.reset(changed=False)


@pytest.mark.parametrize("success", [1.0, 0.7])
def test_an_edit_that_changed_the_prompt_swaps_stale_and_right_if_it_succeeds(success):
    gate = BayesGate(noise_levels=(0.1,), hazard=0.05, success=success)
    stale = [gate.decide(error).signal for error in (0.0, 1.0, 1.0)][-1]
    gate.reset(changed=True)
    edited = success * (1 - stale) + (1 - success) * stale
    drifted = edited * 0.95 + (1 - edited) * 0.05
    assert gate.decide(0.5).signal == pytest.approx(drifted, abs=1e-12)


def test_the_change_point_is_the_first_call_of_the_suspicion():
    gate = BayesGate()
    errors = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    decisions = [gate.decide(error) for error in errors]
    assert [decision.change_point for decision in decisions][-3:] == [6, 6, 6]
    assert [decision.change_point for decision in decisions][:2] == [None, 1]
    assert decisions[-1].opened
    gate.reset(changed=False)
    assert gate.decide(1.0).change_point == 6
    gate.reset(changed=True)
    assert gate.decide(1.0).change_point == 11
