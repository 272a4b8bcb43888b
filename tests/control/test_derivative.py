import numpy as np
import pytest

from learnloop.control.derivative import DerivativeGate

SIZES = [(3, 10), (4, 12), (5, 20)]


@pytest.mark.parametrize(("short", "long"), SIZES)
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
def test_after_a_step_the_mean_signal_rises_to_its_peak_and_dies(short, long, noise):
    gate = DerivativeGate(short=short, long=long)
    for _ in range(long):
        gate.decide(noise)  # the signal is linear in the errors: means in, its mean out
    signals = [gate.decide(1 - noise).signal for _ in range(long)]
    step = 1 - 2 * noise
    rise = [step * j * (1 / short - 1 / long) for j in range(1, short + 1)]
    fall = [step * (1 - j / long) for j in range(short + 1, long + 1)]
    assert signals == pytest.approx(rise + fall, abs=1e-12)
    assert max(signals) == pytest.approx(step * (1 - short / long))
    assert signals.index(max(signals)) + 1 == short


@pytest.mark.parametrize(("short", "long"), SIZES)
def test_noise_alone_has_the_variance_of_two_overlapping_means(short, long):
    noise, runs = 0.2, 3000
    draws = (np.random.default_rng(4).random((runs, long)) < noise).astype(float)
    signals = np.array([_last_signal(short, long, errors) for errors in draws.tolist()])
    expected = noise * (1 - noise) * (1 / short - 1 / long)
    squares = signals**2  # the mean is 0
    assert abs(squares.mean() - expected) <= 4 * squares.std(ddof=1) / np.sqrt(runs)
    assert abs(signals.mean()) <= 4 * signals.std(ddof=1) / np.sqrt(runs)


def _last_signal(short, long, errors):
    gate = DerivativeGate(short=short, long=long)
    return [gate.decide(error) for error in errors][-1].signal


@pytest.mark.parametrize("changed", [True, False])
def test_the_windows_survive_a_reset_or_the_gate_would_be_dead(changed):
    kept, cleared = DerivativeGate(), DerivativeGate()
    for _ in range(10):
        kept.decide(0.0)
    kept.reset(changed=changed)
    assert any(kept.decide(1.0).opened for _ in range(10))
    assert not any(cleared.decide(1.0).opened for _ in range(100))


def test_a_threshold_above_the_peak_never_opens_in_the_mean():
    for threshold, opens in ((0.55, True), (0.57, False)):
        gate = DerivativeGate(short=3, long=10, threshold=threshold)
        for _ in range(10):
            gate.decide(0.1)
        assert any(gate.decide(0.9).opened for _ in range(50)) is opens  # the peak is 0.56


def test_the_change_point_is_the_start_of_the_short_window_or_of_the_prompt():
    gate = DerivativeGate(short=3, long=10)
    for _ in range(10):
        gate.decide(0.0)
    assert gate.decide(1.0).change_point == 8
    assert gate.decide(1.0).change_point == 9
    gate.reset(changed=False)
    assert gate.decide(1.0).change_point == 10
    gate.reset(changed=True)
    assert gate.decide(1.0).change_point == 13
