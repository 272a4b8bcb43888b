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
    """The forward recursion over (stale?, drift, noise level) with whole arrays; row 0 is right."""

    def __init__(self, levels, hazards, shares, success):
        self.levels = np.array(levels)
        self.hazards = np.array(hazards)[:, None]
        self.edit = np.array([[1 - success, success], [success, 1 - success]])
        start = np.outer(shares, np.ones(len(levels)) / len(levels))
        self.joint = np.stack([start, 0 * start])

    def observe(self, error):
        right, stale = self.joint
        drifted = [
            right * (1 - self.hazards) + stale * self.hazards,
            stale * (1 - self.hazards) + right * self.hazards,
        ]
        rates = np.stack([self.levels, 1 - self.levels])[:, None, :]
        self.joint = np.stack(drifted) * (error * rates + (1 - error) * (1 - rates))
        self.joint /= self.joint.sum()
        return self.joint[1].sum()


@given(
    events=EVENTS,
    hazards=st.tuples(st.floats(0.001, 0.3), st.floats(0.001, 0.49)),
    share=st.floats(0, 1),
    success=st.floats(0, 1),
    levels=st.lists(st.floats(0.001, 0.49), min_size=1, max_size=5),
)
def test_it_is_the_forward_filter_of_the_joint_model(events, hazards, share, success, levels):
    gate = BayesGate(
        hazard=hazards[0],
        fast_hazard=hazards[1],
        fast_share=share,
        success=success,
        noise_levels=tuple(levels),
    )
    model = JointFilter(levels, hazards, (1 - share, share), success)
    for event in events:
        if event == "changed":
            model.joint = np.tensordot(model.edit, model.joint, axes=1)
        if isinstance(event, str):
            gate.reset(changed=event == "changed")
            continue
        decision = gate.decide(event)
        assert decision.signal == pytest.approx(model.observe(event), abs=1e-9)
        levels_now = model.joint.sum(axis=(0, 1))
        assert decision.terms["eta"] == pytest.approx(levels_now @ model.levels, abs=1e-9)
        drift_now = model.joint.sum(axis=(0, 2))
        assert decision.terms["drift"] == pytest.approx(drift_now @ np.array(hazards), abs=1e-9)


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=40), noise=st.floats(0.01, 0.4))
def test_with_one_noise_level_it_is_the_two_state_filter(errors, noise):
    gate, hazard, stale = BayesGate(noise_levels=(noise,), hazard=0.05, fast_share=0), 0.05, 0.0
    for error in errors:
        before = stale * (1 - hazard) + (1 - stale) * hazard
        if_stale, if_right = (1 - noise, noise) if error else (noise, 1 - noise)
        stale = before * if_stale / (before * if_stale + (1 - before) * if_right)
        assert gate.decide(error).signal == pytest.approx(stale, abs=1e-12)


@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=40))
def test_an_error_of_one_half_says_nothing_of_prompt_or_noise(errors):
    gate = BayesGate(hazard=0.05, fast_share=0)
    before = [gate.decide(error) for error in (0.0, *errors)][-1]
    after = gate.decide(0.5)
    assert after.signal == pytest.approx(before.signal * 0.95 + (1 - before.signal) * 0.05)
    assert after.terms["eta"] == pytest.approx(before.terms["eta"], abs=1e-12)


def test_it_learns_that_the_world_moves_all_the_time():
    gate, rng, stale = BayesGate(), np.random.default_rng(7), False
    for turned in (rng.random(400) < 1 / 3).tolist():
        stale ^= turned
        gate.decide(float(stale))
    assert gate.decide(0.0).terms["drift"] == pytest.approx(1 / 3, abs=0.01)


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
    gate = BayesGate(noise_levels=(0.1,), hazard=0.05, fast_share=0, success=success)
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
