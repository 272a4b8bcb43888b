"""Sensors: what of the environment's clean feedback arrives."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from learnloop.errors import ParameterError
from learnloop.protocols import Sensor
from learnloop.types import Feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackMix:
    """How probable each part of the feedback is to arrive, and to be wrong (`noise`), 0 to 1."""

    correct: float = 1.0
    comment: float = 0.0
    correction: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not 0 <= value <= 1:
                raise ParameterError(f"{field.name} must be from 0 to 1, not {value!r}")


class PartialSensor:
    """Lets each part of the feedback through with a probability of its own.

    Comments and corrections come with wrong answers only. Three numbers are drawn a step, whatever
    the answer was, so that the streams of two methods stay paired.

    Args:
        correct: Probability that right or wrong arrives, with what was observed.
        comment: Probability that the comment arrives, where there is one.
        correction: Probability that the correction arrives, where there is one.
        rng: Decides.
    """

    def __init__(
        self,
        *,
        correct: float = 1.0,
        comment: float = 0.0,
        correction: float = 0.0,
        rng: np.random.Generator,
    ) -> None:
        mix = FeedbackMix(correct=correct, comment=comment, correction=correction)
        self.correct = mix.correct
        self.comment = mix.comment
        self.correction = mix.correction
        self.rng = rng

    def sense(self, feedback: Feedback, *, step: int) -> Sequence[Feedback]:
        judged, commented, corrected = self.rng.random(3).tolist()
        wrong = feedback.correct is False
        correct = feedback.correct if judged < self.correct else None
        observed = feedback.observed if judged < self.correct else None
        comment = feedback.comment if wrong and commented < self.comment else None
        correction = feedback.correction if wrong and corrected < self.correction else None
        there = (feedback.correct, feedback.observed, feedback.comment, feedback.correction)
        if (correct, observed, comment, correction) == there:
            return () if _is_empty(feedback) else (feedback,)  # not made anew, which takes time
        sensed = dataclasses.replace(
            feedback, correct=correct, observed=observed, comment=comment, correction=correction
        )
        return () if _is_empty(sensed) else (sensed,)


def _is_empty(feedback: Feedback) -> bool:
    said = (feedback.correct, feedback.value, feedback.comment, feedback.correction)
    return feedback.observed is None and all(part is None for part in said)


class Distort(Protocol):
    """Says what a wrong message in place of a right one would be."""

    def __call__(self, feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
        """Return the feedback as it would arrive when it is wrong."""
        ...


class NoisySensor:
    """Corrupts each feedback with the same probability, independent of all else.

    Two numbers are drawn a step, whatever the feedback is: whether it is wrong, and the seed of
    the wrong message. So of two levels of noise the lower one corrupts a part of the steps that
    the higher one does, and the same message in the same way (paired streams).

    Args:
        rate: Probability η that a feedback is wrong, 0 to 1.
        distort: Makes the wrong message.
        then: Takes what is left: the sensor that decides what arrives.
        rng: Decides.
    """

    def __init__(
        self, *, rate: float, distort: Distort, then: Sensor, rng: np.random.Generator
    ) -> None:
        if not 0 <= rate <= 1:
            raise ParameterError(f"noise must be from 0 to 1, not {rate!r}")
        self.rate = rate
        self.distort = distort
        self.then = then
        self.rng = rng

    def sense(self, feedback: Feedback, *, step: int) -> Sequence[Feedback]:
        corrupted, seed = self.rng.random() < self.rate, int(self.rng.integers(2**63))
        if corrupted:
            feedback = self.distort(feedback, rng=np.random.default_rng(seed))
        return self.then.sense(feedback, step=step)


def flip(feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
    """Call right wrong and wrong right; what went with the truth does not go with a lie."""
    if feedback.correct is None:
        return feedback
    return dataclasses.replace(
        feedback, correct=not feedback.correct, comment=None, correction=None, observed=None
    )


def parse_feedback(text: str) -> FeedbackMix:
    """Read what feedback arrives from words: a word, or a word with its probability.

    `binary` is right or wrong alone; it always comes along, unless `correct=…` says otherwise.
    `noise=0.1` makes every tenth message wrong.

    Examples:
        >>> parse_feedback("comment,correction=0.5")
        FeedbackMix(correct=1.0, comment=1.0, correction=0.5, noise=0.0)

    Raises:
        ParameterError: A word is unknown, or a probability is none.
    """
    chances: dict[str, float] = {}
    for part in text.split(","):
        word, given, number = part.strip().partition("=")
        name = _field(word.strip())
        if name == "noise" and not given:
            raise ParameterError("say how much noise: noise=0.1 makes every tenth message wrong")
        chances[name] = _probability(part.strip(), number) if given else 1.0
    return FeedbackMix(**chances)


def _field(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word]
    near = difflib.get_close_matches(word, _WORDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_WORDS)}"
    raise ParameterError(f"no feedback called {word!r}; {hint}")


def _probability(part: str, number: str) -> float:
    try:
        return float(number)
    except ValueError as error:
        raise ParameterError(
            f"{part!r} needs a probability from 0 to 1, for example 'comment=0.5'"
        ) from error


_WORDS = {
    "binary": "correct",
    "correct": "correct",
    "comment": "comment",
    "correction": "correction",
    "noise": "noise",
}
