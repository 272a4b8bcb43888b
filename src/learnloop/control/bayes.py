"""The Bayes gate: how probable it is that the prompt is stale, for a noise nobody has measured."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class BayesGate:
    """Opens when the probability that the prompt is stale reaches the threshold.

    The exact filter of a hidden Markov model (Rabiner, Proceedings of the IEEE 77, 1989) over
    (prompt stale?, speed of drift, noise level): the prompt turns stale, or right again, with the
    hazard of its drift a call; a right prompt meets an error with the probability of the noise, a
    stale one a right answer. Drift and noise are fixed but unknown: each of `noise_levels` is
    equally probable at first, and drift is slow (`hazard`) but for a share of `fast_share`
    (`fast_hazard`). With `fast_share` 0 the drift is known.

    A graded error e counts as an error with weight e and as a right answer with weight 1 - e; so
    1/2 says nothing, neither of the prompt nor of the noise.

    An edit that changed the prompt swaps stale and right with probability `success`; one that kept
    it changes nothing, so the gate opens again at the next call that does not speak against it.

    The change point is the first call after the probability last stood where it does before any
    evidence, or below.

    Args:
        threshold: Probability that opens. At 0.5 accuracy is highest where edits cost nothing.
        hazard: Probability that the world changes at a call, where drift is slow.
        fast_hazard: The same where drift is fast: a target that moves all the time.
        fast_share: Probability that drift is fast, before any evidence.
        noise_levels: Probabilities, each below 1/2, that feedback is flipped.
        success: Probability that an edit of a stale prompt mends it.

    Examples:
        >>> gate = BayesGate()
        >>> [gate.decide(error).opened for error in (0, 0, 0, 1, 1, 1)]
        [False, False, False, False, False, True]
    """

    threshold: float = 0.84
    hazard: float = 0.05
    fast_hazard: float = 1 / 3
    fast_share: float = 0.05
    noise_levels: tuple[float, ...] = (0.005, 0.05, 0.1, 0.15, 0.2, 0.3)
    success: float = 1.0
    _right: list[float] = field(init=False, repr=False)
    _stale: list[float] = field(init=False, repr=False)
    _levels: tuple[float, ...] = field(init=False, repr=False)
    _drift: tuple[float, ...] = field(init=False, repr=False)
    _rest: float = field(init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, above=0, below=1)
        check_range("hazard", self.hazard, above=0, below=0.5)
        check_range("fast_hazard", self.fast_hazard, above=0, below=0.5)
        check_range("fast_share", self.fast_share, at_least=0, at_most=1)
        check_range("success", self.success, at_least=0, at_most=1)
        if not self.noise_levels:
            raise ParameterError("noise_levels must have at least one level, not ()")
        for level in self.noise_levels:
            check_range("each of noise_levels", level, above=0, below=0.5)
        speeds = ((self.hazard, 1 - self.fast_share), (self.fast_hazard, self.fast_share))
        drifts = [(hazard, share) for hazard, share in speeds if share]
        count = len(self.noise_levels)
        self._levels = self.noise_levels * len(drifts)
        self._drift = tuple(hazard for hazard, _ in drifts for _ in range(count))
        self._right = [share / count for _, share in drifts for _ in range(count)]
        self._stale = [0.0] * len(self._levels)
        self._rest = sum(hazard * share for hazard, share in drifts)

    def decide(self, error: float) -> Decision:
        check_error(error)
        right_answer = 1 - error
        right: list[float] = []
        stale: list[float] = []
        states = zip(self._right, self._stale, self._drift, self._levels, strict=True)
        for was_right, was_stale, hazard, level in states:
            if_right = error * level + right_answer * (1 - level)
            turned = hazard * (was_stale - was_right)
            right.append((was_right + turned) * if_right)
            stale.append((was_stale - turned) * (1 - if_right))
        signal = sum(stale)
        total = sum(right) + signal
        self._right = [value / total for value in right]
        self._stale = [value / total for value in stale]
        return self._judge(signal / total)

    def reset(self, *, changed: bool = True) -> None:
        if not changed:
            return
        done, not_done = self.success, 1 - self.success
        pairs = list(zip(self._right, self._stale, strict=True))
        self._right = [done * s + not_done * r for r, s in pairs]
        self._stale = [done * r + not_done * s for r, s in pairs]
        self._since = self._calls

    def _judge(self, signal: float) -> Decision:
        self._calls += 1
        if signal <= self._rest:
            self._since = self._calls
        states = zip(self._levels, self._drift, self._right, self._stale, strict=True)
        noise = drift = 0.0
        for level, hazard, right, stale in states:
            noise += level * (right + stale)
            drift += hazard * (right + stale)
        return Decision(
            opened=signal >= self.threshold - SLACK,
            signal=signal,
            terms={"stale": signal, "eta": noise, "drift": drift, "threshold": self.threshold},
            change_point=self._since if signal > self._rest else None,
        )
