"""The `parity` task: numbers are Red or Blue by parity, and the rule reverses three times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from learnloop.environments.drift import change_tags, regimes
from learnloop.errors import DataError, ParameterError
from learnloop.seeding import stream
from learnloop.types import (
    Episode,
    Feedback,
    Prediction,
    PromptField,
    PromptForm,
    Query,
    Score,
    Step,
    Task,
    Values,
)

COLOURS = ("Red", "Blue")
FLIPS = (0.25, 0.5, 0.75)
"""Where the rule reverses, as a share of the stream: near steps 30, 60 and 90 of 120."""


class Parity:
    """A hidden rule gives even numbers one colour and odd ones the other.

    Which rule holds first, and when it reverses, is drawn from the seed. The feedback names the
    colour that was observed; a corrupted one names the other.

    Args:
        length: Number of queries.
        jitter: How many steps a reversal may be earlier or later than planned.
        start: `known`: the first prompt states the first rule. `random`: it may be the other one.

    Examples:
        >>> environment = Parity()
        >>> query = environment.reset(seed=1)
        >>> 1 <= int(query.text) <= 10, len(environment)
        (True, 120)
    """

    def __init__(
        self, *, length: int = 120, jitter: int = 3, start: Literal["known", "random"] = "known"
    ) -> None:
        if length < 8:
            raise ParameterError(f"length is at least 8 steps, not {length!r}")
        if not 0 <= jitter < length // 8:
            raise ParameterError(f"jitter is from 0 to {length // 8 - 1} steps, not {jitter!r}")
        if start not in ("known", "random"):
            raise ParameterError(f"start is 'known' or 'random', not {start!r}")
        self.length = length
        self.jitter = jitter
        self.start = start
        self._numbers: list[int] = []
        self._even_is: list[str] = []
        self._reversals: tuple[int, ...] = ()
        self._prompt_even = COLOURS[0]
        self._step = 0

    @property
    def id(self) -> str:
        return "parity-v1"

    @property
    def task(self) -> Task:
        return replace(_TASK, prompt_form=replace(_FORM, initial=_rule(self._prompt_even)))

    def __len__(self) -> int:
        return self.length

    def reset(self, *, seed: int) -> Query:
        drift, inputs = stream(seed, "drift"), stream(seed, "inputs")
        planned = [round(share * self.length) for share in FLIPS]
        count = regimes(planned, length=self.length, jitter=self.jitter, rng=drift)
        first, stated = (COLOURS[place] for place in drift.integers(2, size=2))
        self._even_is = [first if turns % 2 == 0 else _other(first) for turns in count]
        self._numbers = [int(number) for number in inputs.integers(1, 11, size=self.length)]
        self._reversals = count
        self._prompt_even = first if self.start == "known" else stated
        self._step = 0
        return self._query()

    def step(self, prediction: Prediction) -> Step:
        if self._step >= len(self._numbers):
            raise DataError("the stream is over, or was not begun; call reset")
        query = self._query()
        even_is = self._even_is[self._step]
        gold = even_is if self._numbers[self._step] % 2 == 0 else _other(even_is)
        right = prediction.text == gold
        tags = change_tags(self._reversals, self._step)
        self._step += 1
        return Step(
            feedback=_feedback(query, prediction.text, observed=gold),
            score=Score(value=float(right), gold=gold, tags=tags),
            query=self._query() if self._step < self.length else None,
        )

    def distort(self, feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
        """Return the feedback with the other colour in place of the one it names."""
        if feedback.observed is None:
            return feedback
        observed = _other(feedback.observed)
        right = not feedback.correct
        return replace(
            feedback, correct=right, observed=observed, comment=_words(observed, right=right)
        )

    def _query(self) -> Query:
        return Query(id=f"step-{self._step}", text=str(self._numbers[self._step]))


def _feedback(query: Query, answer: str, *, observed: str) -> Feedback:
    right = answer == observed
    return Feedback(
        id=f"{query.id}:feedback",
        target_id=query.id,
        correct=right,
        comment=_words(observed, right=right),
        observed=observed,
    )


def _words(observed: str, *, right: bool) -> str | None:
    return None if right else f"it was {observed}"


def _other(colour: str) -> str:
    return COLOURS[1 - COLOURS.index(colour)]


def _rule(even_is: str) -> Values:
    return {"even": even_is, "odd": _other(even_is)}


def _predict(values: Values, query: Query) -> str:
    return str(values["odd" if int(query.text) % 2 else "even"])


def _observe(episode: Episode) -> str:
    """Tell what was observed, and what even numbers have by it: both kinds are then counted."""
    kind = "odd" if int(episode.query.text) % 2 else "even"
    feedback = episode.feedback[-1]
    judged = episode.answer if feedback.correct else f"not {episode.answer}"
    seen = feedback.observed or feedback.correction or judged
    line = f"{episode.query.text} is {kind}: {seen}"
    if seen not in COLOURS:
        return line
    return f"{line}, so even: {seen if kind == 'even' else _other(seen)}"


def _fit(values: Values, evidence: Sequence[Episode]) -> Values:
    """Return the rule that most of the observations follow, the old one on a tie."""
    votes = sum(_votes(values, episode) for episode in evidence)
    return values if votes >= 0 else _rule(_other(str(values["even"])))


def _votes(values: Values, episode: Episode) -> int:
    observed = episode.feedback[-1].observed
    if observed is None:
        return 0
    return 1 if _predict(values, episode.query) == observed else -1


def _complain(values: Values) -> str | None:
    return "even and odd need different colours" if values["even"] == values["odd"] else None


_FORM = PromptForm(
    fields=(
        PromptField(name="even", meaning="the colour of even numbers", choices=COLOURS),
        PromptField(name="odd", meaning="the colour of odd numbers", choices=COLOURS),
    ),
    initial=_rule(COLOURS[0]),
    predict=_predict,
    observe=_observe,
    fit=_fit,
    complain=_complain,
    question="Which colour do even numbers have in these observations, and which odd ones?",
)

_TASK = Task(
    name="parity",
    role="You give numbers their colour.",
    instructions="Even numbers have one colour and odd numbers the other; the rule may change.",
    answer_format="Answer with one word: Red or Blue.",
    metric="accuracy",
    query_label="Number",
    answer_label="Colour",
)
