"""The Bayes gate: how probable it is that the prompt is stale, for a noise nobody has measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class BayesGate:
    """Opens when the probability that the prompt is stale reaches the threshold.

    The exact filter of a hidden Markov model (Rabiner, Proceedings of the IEEE 77, 1989) over
    (prompt stale?, noise level): the prompt turns stale, or right again, with probability `hazard`
    a call; a right prompt meets an error with the probability of the noise, a stale one a right
    answer. The noise level is fixed but unknown, each of `noise_levels` equally probable at first.
    A graded error e weighs in as p^e (1-p)^(1-e): at each noise level an error of 1/2 says nothing
    of whether the prompt is stale, but it speaks for the higher levels.

    An edit that changed the prompt swaps stale and right with probability `success`; one that kept
    it changes nothing, so the gate opens again at the next call that does not speak against it.

    The change point is the first call after the probability last stood at the hazard or below,
    which is where it stands before any evidence.

    Args:
        threshold: Probability that opens. At 0.5 accuracy is highest where edits cost nothing.
        hazard: Probability that the world changes at a call.
        noise_levels: Probabilities, each below 1/2, that feedback is flipped.
        success: Probability that an edit of a stale prompt mends it.

    Examples:
        >>> gate = BayesGate(threshold=0.8)
        >>> [round(gate.decide(error).signal, 2) for error in (0, 0, 0, 1, 1)]
        [0.01, 0.01, 0.01, 0.26, 0.65]
    """

    threshold: float = 0.8
    hazard: float = 1 / 30
    noise_levels: tuple[float, ...] = (0.005, 0.05, 0.1, 0.15, 0.2, 0.3)
    success: float = 1.0
    _right: list[float] = field(init=False, repr=False)
    _stale: list[float] = field(init=False, repr=False)
    _rare: tuple[float, ...] = field(init=False, repr=False)
    _usual: tuple[float, ...] = field(init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, above=0, below=1)
        check_range("hazard", self.hazard, above=0, below=0.5)
        check_range("success", self.success, at_least=0, at_most=1)
        if not self.noise_levels:
            raise ParameterError("noise_levels must have at least one level, not ()")
        for level in self.noise_levels:
            check_range("each of noise_levels", level, above=0, below=0.5)
        self._right = [1 / len(self.noise_levels)] * len(self.noise_levels)
        self._stale = [0.0] * len(self.noise_levels)
        self._rare = tuple(self.noise_levels)
        self._usual = tuple(1 - level for level in self.noise_levels)

    def decide(self, error: float) -> Decision:
        check_error(error)
        if_right, if_stale = self._likelihoods(error)
        stay, turn = 1 - self.hazard, self.hazard
        pairs = list(zip(self._right, self._stale, strict=True))
        right = [(r * stay + s * turn) * x for (r, s), x in zip(pairs, if_right, strict=True)]
        stale = [(s * stay + r * turn) * x for (r, s), x in zip(pairs, if_stale, strict=True)]
        total = sum(right) + sum(stale)
        self._right = right = [value / total for value in right]
        self._stale = stale = [value / total for value in stale]
        return self._judge(right, stale)

    def reset(self, *, changed: bool = True) -> None:
        if not changed:
            return
        done, not_done = self.success, 1 - self.success
        pairs = list(zip(self._right, self._stale, strict=True))
        self._right = [done * s + not_done * r for r, s in pairs]
        self._stale = [done * r + not_done * s for r, s in pairs]
        self._since = self._calls

    def _likelihoods(self, error: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return how probable the error is for each noise level, of a right and a stale prompt."""
        if error == 1.0:
            return self._rare, self._usual
        if error == 0.0:
            return self._usual, self._rare
        pairs = list(zip(self._rare, self._usual, strict=True))
        if_right = tuple(math.pow(x, error) * math.pow(y, 1 - error) for x, y in pairs)
        return if_right, tuple(math.pow(y, error) * math.pow(x, 1 - error) for x, y in pairs)

    def _judge(self, right: list[float], stale: list[float]) -> Decision:
        signal = sum(stale)
        self._calls += 1
        if signal <= self.hazard:
            self._since = self._calls
        levels = zip(self.noise_levels, right, stale, strict=True)
        noise = sum(level * (r + s) for level, r, s in levels)
        return Decision(
            opened=signal >= self.threshold - SLACK,
            signal=signal,
            terms={"stale": signal, "eta": noise, "threshold": self.threshold},
            change_point=self._since if signal > self.hazard else None,
        )
