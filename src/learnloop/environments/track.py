"""The `track` task: a hidden number moves along a path; the prompt says where it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import linear_regression
from typing import Literal

import numpy as np
import numpy.typing as npt

from learnloop.environments.hidden_number import (
    HiddenNumber,
    observed_interval,
    parse_number,
    step_of,
    tell,
)
from learnloop.environments.hints import Corrupts
from learnloop.environments.intervals import HIGHEST, LOWEST, Interval, agreed
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

Path = Literal["sinusoid", "rectangular", "exponential"]
Numbers = npt.NDArray[np.float64]

CENTRE, AMPLITUDE = 50, 40
STEEPEST = 60
"""The greatest slope a prompt may state, per ten steps."""
_SETTLING = 3.0
"""Time constants in half a cycle of the exponential path, which covers 95 % of its way."""


class Track:
    """A number moves between 10 and 90; each answer is called right, too low or too high.

    Where on the path it begins comes from the seed. The prompt states the number as a `value`, at
    first 50, that holds until it is edited; or with `slope` as a value, the step `since` which it
    held, and its change per ten steps, from which the answer is extrapolated.

    Args:
        length: Number of queries.
        path: `sinusoid`; `rectangular`, which jumps between 10 and 90; or `exponential`, which
            approaches one and then the other.
        cycles: Cycles in the whole stream.
        slope: Whether the prompt states a slope. Without one an editor has to be called more
            often, but one number is all that it can get wrong.
        bucket: Width of a class of distance in the hints.
        corrupts: What a wrong hint gets wrong: the `direction` alone, or the whole `message`; as
            in `guess`.
        phase: Where on the path it begins, in cycles, 0 to 1; `None` for what the seed says.

    Examples:
        >>> environment = Track(phase=0.25)
        >>> query = environment.reset(seed=1)
        >>> environment.step(Prediction(query_id=query.id, text="50")).score.gold
        '90'
    """

    def __init__(
        self,
        *,
        length: int = 120,
        path: Path = "sinusoid",
        cycles: float = 1.5,
        slope: bool = False,
        bucket: int = 10,
        corrupts: Corrupts = "direction",
        phase: float | None = None,
    ) -> None:
        if length < 1 or not 0 < cycles < math.inf:
            raise ParameterError(
                f"length is at least 1 and cycles above 0, not {length!r} and {cycles!r}"
            )
        if phase is not None and not 0 <= phase <= 1:
            raise ParameterError(f"phase is from 0 to 1, or None for any, not {phase!r}")
        if path not in _SHAPES:
            raise ParameterError(f"path is one of {', '.join(_SHAPES)}, not {path!r}")
        self.length = length
        self.path = path
        self.cycles = cycles
        self.slope = slope
        self.bucket = bucket
        self.corrupts = corrupts
        self.phase = phase
        self._hidden = HiddenNumber(bucket=bucket, corrupts=corrupts)
        self._task = _task(bucket=bucket, reach=self._reach(), slope=slope, length=length)

    @property
    def id(self) -> str:
        return "track-v1"

    @property
    def task(self) -> Task:
        return self._task

    def __len__(self) -> int:
        return self.length

    def reset(self, *, seed: int) -> Query:
        drawn = stream(seed, "drift").random()
        phase = drawn if self.phase is None else self.phase
        turns = self.cycles * np.arange(self.length) / self.length + phase
        path = np.rint(CENTRE + AMPLITUDE * _SHAPES[self.path](turns % 1))
        return self._hidden.begin([int(number) for number in path])

    def step(self, prediction: Prediction) -> Step:
        return self._hidden.step(prediction)

    def distort(self, feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
        """Return the feedback of the last step with a false hint in place of the true one."""
        return self._hidden.distort(feedback, rng=rng)

    def _reach(self) -> int:
        """Return how far the sinusoid goes in one step, at most."""
        return math.ceil(AMPLITUDE * 2 * math.pi * self.cycles / self.length)


def _sinusoid(turn: Numbers) -> Numbers:
    return np.sin(2 * np.pi * turn)


def _rectangular(turn: Numbers) -> Numbers:
    return np.where(turn < 0.5, 1.0, -1.0)


def _exponential(turn: Numbers) -> Numbers:
    """Approach 1 and -1 in turn, from where the approach before has come to."""
    from_level = 1 + math.tanh(_SETTLING / 2)
    approach = 1 - from_level * np.exp(-_SETTLING * (turn % 0.5) / 0.5)
    return _rectangular(turn) * approach


_SHAPES = {"sinusoid": _sinusoid, "rectangular": _rectangular, "exponential": _exponential}


def _predict(values: Values, query: Query) -> str:
    if "slope" not in values:
        return str(values["value"])
    gone = step_of(query) - int(values["since"])
    return str(_within(int(values["value"]) + int(values["slope"]) * gone / 10))


def _observe(episode: Episode) -> str:
    return tell(episode, say=lambda seen: str(seen.middle))


def _observe_step(episode: Episode) -> str:
    return f"{episode.query.text}: {_observe(episode)}"


def _fit(values: Values, evidence: Sequence[Episode], *, reach: int) -> Values:
    """Return where the number was at the newest observation, by what most of them allow.

    An older observation allows what the number can have come to since, at `reach` a step.
    """
    seen = _sightings(evidence)
    if not seen:
        return values
    found = _agreed(seen, reach)
    if "slope" not in values:
        return {"value": found.middle}
    now = seen[-1][0]
    trusted = [
        (step, each) for step, each in seen if each.widened(reach * (now - step)).meets(found)
    ]
    return _line(values, trusted, now=now, middle=found.middle)


def _sightings(evidence: Sequence[Episode]) -> list[tuple[int, Interval]]:
    pairs = [(step_of(episode.query), observed_interval(episode)) for episode in evidence]
    return [(step, interval) for step, interval in pairs if interval is not None]


def _agreed(seen: Sequence[tuple[int, Interval]], reach: int) -> Interval:
    now = seen[-1][0]
    return agreed([interval.widened(reach * (now - step)) for step, interval in seen])


def _line(values: Values, seen: Sequence[tuple[int, Interval]], *, now: int, middle: int) -> Values:
    """Return the straight line through the middles, as a prompt; from one, the slope stays."""
    if len(seen) < 2:
        return {"value": middle, "slope": values["slope"], "since": now}
    steps, middles = [step for step, _ in seen], [each.middle for _, each in seen]
    line = linear_regression(steps, middles)
    steepness = max(-STEEPEST, min(STEEPEST, round(10 * line.slope)))
    return {
        "value": _within(line.intercept + line.slope * now),
        "slope": steepness,
        "since": now,
    }


def _within(number: float) -> int:
    return max(LOWEST, min(HIGHEST, round(number)))


def _task(*, bucket: int, reach: int, slope: bool, length: int) -> Task:
    value = PromptField(name="value", meaning=_VALUE[slope], low=LOWEST, high=HIGHEST)
    fields: tuple[PromptField, ...] = (value,)
    initial = {"value": CENTRE}
    if slope:
        fields += (
            PromptField(
                name="slope", meaning="its change in ten steps", low=-STEEPEST, high=STEEPEST
            ),
            PromptField(name="since", meaning="the step when it had this value", high=length - 1),
        )
        initial |= {"slope": 0, "since": 0}
    form = PromptForm(
        fields=fields,
        initial=initial,
        predict=_predict,
        observe=_observe_step if slope else _observe,
        fit=partial(_fit, reach=reach),
        question=_QUESTION + (_SLOPE_QUESTION if slope else ""),
        bucket=bucket,
    )
    return replace(_TASK, prompt_form=form)


_VALUE = {False: "the number now", True: "the number at the step `since`"}

_QUESTION = "What is the value now?"

_SLOPE_QUESTION = (
    " At which step was that, and by how much does it change in ten steps? A number that falls "
    "has a slope below 0."
)

_TASK = Task(
    name="track",
    role=f"You follow a hidden whole number from {LOWEST} to {HIGHEST}.",
    instructions="The number moves all the time.",
    answer_format="Answer with one whole number.",
    metric="RMSE",
    parse=parse_number,
    query_label="Now",
    answer_label="Number",
)
