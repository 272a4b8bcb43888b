"""The `guess` task: a hidden number from 1 to 100 jumps now and then; the prompt is a belief."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from learnloop.environments.drift import regimes
from learnloop.environments.hidden_number import (
    HiddenNumber,
    observed_interval,
    parse_number,
    tell,
)
from learnloop.environments.hints import Corrupts
from learnloop.environments.intervals import EVERYTHING, HIGHEST, LOWEST, Interval, agreed
from learnloop.errors import ParameterError
from learnloop.seeding import stream
from learnloop.types import (
    Episode,
    Feedback,
    Prediction,
    PromptField,
    PromptForm,
    Query,
    Step,
    Task,
    Values,
)


class Guess:
    """A number is hidden; each answer is called right, too low or too high, and by how much.

    The number is drawn anew from 1 to 100 near every `period` steps; when, and what it is, comes
    from the seed. The prompt is the belief, from `low` to `high`, at first 1 to 100; its middle is
    the answer.

    Args:
        length: Number of queries.
        period: Steps between two jumps.
        jitter: How many steps a jump may be earlier or later than planned.
        bucket: Width of a class of distance in the hints.
        corrupts: What a wrong hint gets wrong. `direction`: too low and too high are exchanged,
            the distance stays. `message`: it is any other. A hint that no number would make true
            is never given, so that now and then, near 1 and 100, the direction cannot be wrong.

    Examples:
        >>> environment = Guess()
        >>> query = environment.reset(seed=1)
        >>> environment.step(Prediction(query_id=query.id, text="50")).feedback.comment
        '50 is too high by 10-19'
    """

    def __init__(
        self,
        *,
        length: int = 120,
        period: int = 30,
        jitter: int = 3,
        bucket: int = 10,
        corrupts: Corrupts = "direction",
    ) -> None:
        if length < 1 or period < 1:
            raise ParameterError(
                f"length and period are at least 1 step, not {length!r} and {period!r}"
            )
        if not 0 <= 2 * jitter < period:
            raise ParameterError(f"jitter is at least 0 and under half of {period}, not {jitter!r}")
        self.length = length
        self.period = period
        self.jitter = jitter
        self.bucket = bucket
        self.corrupts = corrupts
        self._hidden = HiddenNumber(bucket=bucket, corrupts=corrupts)
        self._task = _task(bucket)

    @property
    def id(self) -> str:
        return "guess-v1"

    @property
    def task(self) -> Task:
        return self._task

    def __len__(self) -> int:
        return self.length

    def reset(self, *, seed: int) -> Query:
        drift = stream(seed, "drift")
        planned = range(self.period, self.length, self.period)
        count = regimes(planned, length=self.length, jitter=self.jitter, rng=drift)
        numbers = drift.integers(LOWEST, HIGHEST + 1, size=len(planned) + 1).tolist()
        return self._hidden.begin([numbers[regime] for regime in count], jumps=count)

    def step(self, prediction: Prediction) -> Step:
        return self._hidden.step(prediction)

    def distort(self, feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
        """Return the feedback of the last step with a false hint in place of the true one."""
        return self._hidden.distort(feedback, rng=rng)


def _believed(values: Values) -> Interval:
    return Interval(low=int(values["low"]), high=int(values["high"]))


def _predict(values: Values, query: Query) -> str:
    return str(_believed(values).middle)


def _fit(values: Values, evidence: Sequence[Episode]) -> Values:
    """Return the numbers that most observations allow; on a tie those believed until now."""
    seen = [interval for interval in map(observed_interval, evidence) if interval is not None]
    if not seen:
        return values
    found = agreed(seen, believed=_believed(values))
    return {"low": found.low, "high": found.high}


def _say(seen: Interval) -> str:
    return f"low {seen.low}, high {seen.high}"


def _complain(values: Values) -> str | None:
    low, high = int(values["low"]), int(values["high"])
    return None if low <= high else f"low is {low} and must not be above high, which is {high}"


def _task(bucket: int) -> Task:
    form = PromptForm(
        fields=(
            PromptField(
                name="low", meaning="the least the number may be", low=LOWEST, high=HIGHEST
            ),
            PromptField(
                name="high", meaning="the most the number may be", low=LOWEST, high=HIGHEST
            ),
        ),
        initial={"low": EVERYTHING.low, "high": EVERYTHING.high},
        predict=_predict,
        observe=partial(tell, say=_say),
        fit=_fit,
        question=_QUESTION,
        complain=_complain,
        bucket=bucket,
    )
    return Task(
        name="guess",
        role=f"You guess a hidden whole number from {LOWEST} to {HIGHEST}.",
        instructions="The number jumps now and then.",
        answer_format="Answer with one whole number.",
        metric="MAE",
        parse=parse_number,
        query_label="Now",
        answer_label="Number",
        prompt_form=form,
    )


_QUESTION = "Between which low and high is the number in these observations?"
