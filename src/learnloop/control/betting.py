"""The betting trial: two gamblers, one for each prompt, and the first to get rich is right."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Verdict


@dataclass(slots=True, kw_only=True, eq=False)
class BettingTrial:
    """Ends when the wealth of one who bets on either prompt reaches 1 / alpha.

    With d = error of the old prompt - error of the new one, the wealth for the new prompt is
    multiplied by 1 + bet * d, that for the old one by 1 - bet * d. While the new prompt is no
    better in the mean, the first is a supermartingale, so that it ever reaches 1 / alpha has
    probability alpha at most (Ville); the same holds the other way round. No noise level enters,
    and the world may change as it likes. The price is a longer trial than that of `SPRTTrial`, of
    at least log(1 / alpha) / log(1 + bet) observations, and nothing is edited meanwhile.

    An open trial is ended after `longest` observations, and the new prompt kept: it was what the
    editor wanted, and nothing was shown against it.

    Args:
        alpha: Probability that the evidence ever speaks for the worse prompt.
        bet: Share of the wealth that is bet on each observation.
        longest: Observations after which an open trial keeps the new prompt.

    Examples:
        >>> trial = BettingTrial(alpha=0.2, bet=0.5)
        >>> trial.begin()
        >>> [trial.judge(new=1.0, old=0.0) for _ in range(4)]
        ['open', 'open', 'open', 'roll_back']
    """

    alpha: float = 0.05
    bet: float = 0.5
    longest: int = 16
    _for_new: float = field(default=1.0, init=False, repr=False)
    _for_old: float = field(default=1.0, init=False, repr=False)
    _judged: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("alpha", self.alpha, above=0, below=1)
        check_range("bet", self.bet, above=0, below=1)
        check_range("longest", self.longest, at_least=1)

    def begin(self) -> None:
        self._for_new = self._for_old = 1.0
        self._judged = 0

    def judge(self, *, new: float, old: float) -> Verdict:
        check_error(new)
        check_error(old)
        self._for_new *= 1 + self.bet * (old - new)
        self._for_old *= 1 - self.bet * (old - new)
        self._judged += 1
        rich = 1 / self.alpha - SLACK
        if self._for_old >= rich:
            return "roll_back"
        return "keep" if self._for_new >= rich or self._judged >= self.longest else "open"
