"""How near the ideal tracker of a hidden number comes to it, from noisy hints."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from learnloop.errors import ParameterError
from learnloop.seeding import stream

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Corrupts = Literal["direction", "message"]

_EXACT = 0
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessingGame:
    """A number hidden in 1 to `numbers`, and a hint after each guess.

    A hint says that the guess is exact, or too low or too high and by how many buckets.

    Attributes:
        eta: How often a hint is corrupted.
        corrupts: `direction`: too low and too high are exchanged, the distance stays (an exact
            guess is called off by less than a bucket, either way). `message`: any other hint.
        steps: Length of a run.
        period: The number is drawn anew every so many steps; the tracker knows how often, not
            when.
        numbers: The largest number.
        bucket: Width of a class of distance.
    """

    eta: float
    corrupts: Corrupts = "direction"
    steps: int = 120
    period: int = 30
    numbers: int = 100
    bucket: int = 10

    def __post_init__(self) -> None:
        if not 0 <= self.eta <= 1:
            raise ParameterError(f"eta must be from 0 to 1, got {self.eta!r}")
        if self.corrupts not in ("direction", "message"):
            raise ParameterError(f"corrupts is direction or message, got {self.corrupts!r}")
        for name in ("steps", "period", "bucket"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if self.numbers < 2:
            raise ParameterError(f"numbers must be at least 2, got {self.numbers!r}")

    @property
    def buckets(self) -> int:
        """How many classes of distance there are."""
        return (self.numbers - 1) // self.bucket + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over simulated runs, and its standard error."""

    mean: float
    standard_error: float
    runs: int


@functools.lru_cache(maxsize=32)
def guess_ceiling(game: GuessingGame, *, runs: int = 1_000, seed: int = 0) -> Estimate:
    """Return the mean absolute error of the median of the exact posterior.

    The median makes the expected error of each guess least. The tracker knows the noise, what it
    corrupts and the rate of the jumps. Sampled: an exact value would need all beliefs.
    """
    if runs < 2:
        raise ParameterError(f"runs must be at least 2, got {runs!r}")
    rng = stream(seed, "guess-ceiling")
    sent, channel = _hints(game), _channel(game)
    belief = np.full((runs, game.numbers), 1 / game.numbers)
    target, total = _draw_targets(game, runs, rng), np.zeros(runs)
    for step in range(game.steps):
        if step and step % game.period == 0:
            target = _draw_targets(game, runs, rng)
        belief += (1 / game.numbers - belief) / game.period
        guess = _median(belief)
        total += np.abs(guess - target)
        received = _receive(channel[sent[guess, target]], rng)
        belief *= channel[sent[guess], received[:, None]]
        belief /= belief.sum(axis=1, keepdims=True)
    errors = total / game.steps
    return Estimate(
        mean=float(errors.mean()),
        standard_error=float(errors.std(ddof=1) / math.sqrt(runs)),
        runs=runs,
    )


def least_search_steps(eta: float, *, numbers: int = 100) -> float:
    """Return the least mean number of steps to find a number by directions alone.

    Each answer carries at most the capacity of a binary channel that is wrong at rate `eta`.

    Examples:
        >>> round(least_search_steps(0.1), 1), least_search_steps(0.5)
        (12.5, inf)
    """
    if not 0 <= eta <= 1:
        raise ParameterError(f"eta must be from 0 to 1, got {eta!r}")
    doubt = -sum(share * math.log2(share) for share in (eta, 1 - eta) if share > 0)
    return math.log2(numbers) / (1 - doubt) if doubt < 1 else math.inf


def _hints(game: GuessingGame) -> Whole:
    """Return the true hint by guess and number (both from zero): exact, too low, too high."""
    guess, number = np.indices((game.numbers, game.numbers))
    bucket = np.abs(guess - number) // game.bucket
    off = np.where(guess < number, 1 + bucket, 1 + game.buckets + bucket)
    return np.where(guess == number, _EXACT, off).astype(np.int64)


def _channel(game: GuessingGame) -> Numbers:
    """Return the probability of each hint received (columns) by the hint sent (rows)."""
    count = 1 + 2 * game.buckets
    if game.corrupts == "message":
        wrong = (1 - np.eye(count)) / (count - 1)
    else:
        low, high = np.arange(1, game.buckets + 1), np.arange(game.buckets + 1, count)
        wrong = np.zeros((count, count))
        wrong[low, high] = wrong[high, low] = 1
        wrong[_EXACT, [low[0], high[0]]] = 0.5
    mixed: Numbers = (1 - game.eta) * np.eye(count) + game.eta * wrong
    return mixed


def _draw_targets(game: GuessingGame, runs: int, rng: np.random.Generator) -> Whole:
    return rng.integers(game.numbers, size=runs)


def _median(belief: Numbers) -> Whole:
    """Return the least number with half of the belief at or below it, rounding set aside."""
    median: Whole = (belief.cumsum(axis=1) < 0.5 - _ROUNDING).sum(axis=1, dtype=np.int64)
    return median


def _receive(chances: Numbers, rng: np.random.Generator) -> Whole:
    """Draw one hint a run from its row of chances; one that has no chance is never drawn."""
    bounds = chances.cumsum(axis=1)
    draws = rng.random((len(chances), 1)) * bounds[:, -1:]
    received: Whole = (bounds <= draws).sum(axis=1, dtype=np.int64)
    return received
