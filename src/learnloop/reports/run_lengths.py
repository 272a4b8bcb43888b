"""How long a gate can stay quiet and how fast it can speak: the exact run lengths of CUSUM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from learnloop.errors import ParameterError

THRESHOLDS = tuple(range(1, 9))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """How often feedback contradicts a prediction: under a prompt that fits, and a stale one."""

    healthy: float
    stale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLength:
    """CUSUM at one integer threshold: mean steps to a false alarm, mean worst-case delay."""

    threshold: int
    false_alarm: float
    delay: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLength:
    """A paired test of two prompts: how often it keeps the worse one, and its mean length."""

    error: float
    steps: float


def error_rates(eta: float, *, slip: float = 0.0, classes: int = 2) -> ErrorRates:
    """Return the rates of observed errors when labels are corrupted at rate `eta`.

    A corrupted label is any other class alike, and so is the answer of a predictor that slips
    (rate `slip`). A stale prompt names one particular wrong class.

    Examples:
        >>> error_rates(0.1, slip=0.05)
        ErrorRates(healthy=0.14, stale=0.86)
    """
    _in_unit_interval("eta", eta)
    _in_unit_interval("slip", slip)
    if classes < 2:
        raise ParameterError(f"classes must be at least 2, got {classes!r}")
    others = classes - 1
    wrong = 1 - eta / others
    healthy = (1 - slip) * eta + slip * wrong
    stale = (1 - slip / others) * wrong + slip / others * eta
    return ErrorRates(healthy=healthy, stale=stale)


def bernoulli_divergence(of: float, to: float) -> float:
    """Return the Kullback-Leibler divergence of two rates, in nats: evidence per step.

    Examples:
        >>> round(bernoulli_divergence(0.9, 0.1), 3)
        1.758
    """
    _in_unit_interval("of", of)
    _in_unit_interval("to", to)
    return float(special.rel_entr(of, to) + special.rel_entr(1 - of, 1 - to))


def mean_run_length(threshold: int, rate: float) -> float:
    """Return the mean number of steps until a CUSUM of plus and minus one reaches `threshold`.

    Each step is an error with probability `rate` and adds one, else it takes one away; the sum
    starts at zero and never falls below it. To climb from level k to k + 1 takes
    (1 + r + ... + r^k) / rate steps in the mean, r = (1 - rate) / rate; added up, the terms are
    all positive, so nothing cancels at any rate (at 1/2 they give m (m + 1)).

    Examples:
        >>> round(mean_run_length(3, 0.1)), round(mean_run_length(3, 0.9), 2)
        (1020, 3.59)
    """
    if threshold < 1:
        raise ParameterError(f"threshold must be an integer from 1, got {threshold!r}")
    _in_unit_interval("rate", rate)
    if rate == 0:
        return math.inf
    powers = np.arange(threshold)
    with np.errstate(over="ignore"):
        climbs = (threshold - powers) * ((1 - rate) / rate) ** powers
        return float(climbs.sum() / rate)


def run_lengths(eta: float, *, thresholds: Sequence[int] = THRESHOLDS) -> list[RunLength]:
    """Return the curve of the least delay against run length, one point a threshold.

    No gate on binary errors with these rates has a shorter worst-case delay at the same run
    length (Moustakides 1986). Between two points lies the line of gates that draw one of the two
    thresholds anew after every reset.
    """
    rates = error_rates(eta)
    return [
        RunLength(
            threshold=threshold,
            false_alarm=mean_run_length(threshold, rates.healthy),
            delay=mean_run_length(threshold, rates.stale),
        )
        for threshold in thresholds
    ]


def least_delay(run_length: float, eta: float) -> float:
    """Return the least worst-case delay of any gate whose mean run length is `run_length`.

    Examples:
        >>> round(least_delay(1020, 0.1), 2), least_delay(10, 0)
        (3.59, 1.0)
    """
    if not 0 <= eta < 0.5:
        raise ParameterError(f"eta must be from 0 to below 0.5, got {eta!r}")
    if not 1 <= run_length < math.inf:
        raise ParameterError(f"run_length must be finite and at least 1, got {run_length!r}")
    if eta == 0:
        return 1.0
    left = RunLength(threshold=0, false_alarm=0.0, delay=0.0)
    right = run_lengths(eta, thresholds=[1])[0]
    while right.false_alarm < run_length:
        left, right = right, run_lengths(eta, thresholds=[right.threshold + 1])[0]
    share = (run_length - left.false_alarm) / (right.false_alarm - left.false_alarm)
    return left.delay + share * (right.delay - left.delay)


def trial_length(threshold: int, eta: float) -> TrialLength:
    """Return error and mean length of a trial that ends when one prompt leads by `threshold`.

    Old and new prompt differ at every step, so each label speaks for the better one with
    probability 1 - `eta`: the ruin of a gambler between two equal barriers.

    Examples:
        >>> trial_length(2, 0.5)
        TrialLength(error=0.5, steps=4.0)
    """
    if threshold < 1:
        raise ParameterError(f"threshold must be an integer from 1, got {threshold!r}")
    _in_unit_interval("eta", eta)
    lost, won = eta**threshold, (1 - eta) ** threshold
    powers = np.arange(threshold)
    paths = float((eta**powers * (1 - eta) ** powers[::-1]).sum())
    return TrialLength(error=lost / (lost + won), steps=threshold * paths / (lost + won))


def _in_unit_interval(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ParameterError(f"{name} must be from 0 to 1, got {value!r}")
