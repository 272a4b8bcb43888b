"""The SPRT trial: the prompt that leads by enough observations is the better one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.types import Verdict


@dataclass(slots=True, kw_only=True, eq=False)
class SPRTTrial:
    """Ends when one of the two prompts leads by the margin; the old one's lead rolls back.

    The lead is the sum of (error of the old prompt - error of the new one), so an observation that
    only the new prompt met adds 1 and one that only the old prompt met takes 1 away. Where labels
    are wrong at a rate below 1/2, each of these weighs the same in the likelihood, and this is
    Wald's sequential test (Annals of Mathematical Statistics 16, 1945) whatever the rate is; see
    `margin_for`. The worse prompt wins with probability q^m / (q^m + (1-q)^m), q being the rate and
    m the margin: the ruin of a gambler. Observations that both prompts meet, or both miss, say
    nothing, and nothing is edited meanwhile, so a trial that stays open is ended after `longest`
    of them, and the new prompt kept. At margin 2, where prompts always differ, 1 % of trials last
    that long at a rate of 0.2. Where both are often wrong, as on a number that moves, a trial
    mostly holds up the next edit.

    Args:
        margin: The lead, in observations, that decides.
        longest: Observations after which an open trial keeps the new prompt.

    Examples:
        >>> trial = SPRTTrial(margin=2)
        >>> trial.begin()
        >>> [trial.judge(new=1.0, old=0.0), trial.judge(new=1.0, old=0.0)]
        ['open', 'roll_back']
    """

    margin: float = 2.0
    longest: int = 8
    _lead: float = field(default=0.0, init=False, repr=False)
    _judged: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_range("margin", self.margin, above=0)
        check_range("longest", self.longest, at_least=1)

    def begin(self) -> None:
        self._lead = 0.0
        self._judged = 0

    def judge(self, *, new: float, old: float) -> Verdict:
        check_error(new)
        check_error(old)
        self._lead += old - new
        self._judged += 1
        if self._lead <= SLACK - self.margin:
            return "roll_back"
        decided = self._lead >= self.margin - SLACK or self._judged >= self.longest
        return "keep" if decided else "open"


def margin_for(*, noise: float, wrong: float) -> int:
    """Return the least margin at which the worse prompt wins with probability `wrong` or less.

    It is log((1 - wrong) / wrong) / log((1 - noise) / noise), rounded up: Wald's two bounds where
    keeping wrongly and rolling back wrongly are to be equally rare. On steps of 1 they are exact.

    Args:
        noise: Rate of wrong labels, below 1/2.
        wrong: Probability of a wrong verdict, below 1/2.

    Raises:
        ParameterError: They are not between 0 and 1/2.

    Examples:
        >>> margin_for(noise=0.1, wrong=0.02), margin_for(noise=0.2, wrong=0.02)
        (2, 3)
    """
    check_range("noise", noise, above=0, below=0.5)
    check_range("wrong", wrong, above=0, below=0.5)
    exact = math.log((1 - wrong) / wrong) / math.log((1 - noise) / noise)
    return max(1, math.ceil(exact - SLACK))
