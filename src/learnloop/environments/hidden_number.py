"""The stream of a task with a hidden number: hints as feedback, the distance as hidden score."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from learnloop.environments.drift import change_tags
from learnloop.environments.hints import Corrupts, Hint, false_hints, true_hint
from learnloop.environments.intervals import HIGHEST, LOWEST, Interval, read_interval
from learnloop.errors import DataError, ParameterError
from learnloop.types import Episode, Feedback, Prediction, Query, Score, Step

STEP = "step "
NO_NUMBER = f"no whole number from {LOWEST} to {HIGHEST}"


class HiddenNumber:
    """Asks for a number at each step and says how far off the answer was.

    A query tells the step and nothing else. `distort` is for the step that was made last.

    Args:
        bucket: Width of a class of distance in the hints.
        corrupts: What a wrong hint gets wrong: the `direction` alone, or the whole `message`.
    """

    def __init__(self, *, bucket: int, corrupts: Corrupts) -> None:
        if not 1 <= bucket <= HIGHEST:
            raise ParameterError(f"bucket is from 1 to {HIGHEST}, not {bucket!r}")
        if corrupts not in ("direction", "message"):
            raise ParameterError(f"corrupts is 'direction' or 'message', not {corrupts!r}")
        self.bucket = bucket
        self.corrupts: Corrupts = corrupts
        self._numbers: Sequence[int] = ()
        self._jumps: Sequence[int] = ()
        self._step = 0
        self._hint: Hint | None = None

    def begin(self, numbers: Sequence[int], *, jumps: Sequence[int] = ()) -> Query:
        """Take the hidden number of every step, and ask for the first.

        `jumps` says for each step how many jumps came before it, or with it; none if left out.
        """
        self._numbers = numbers
        self._jumps = jumps or (0,) * len(numbers)
        self._step = 0
        self._hint = None
        return self._query()

    def step(self, prediction: Prediction) -> Step:
        """Take in an answer, as an environment does."""
        if self._step >= len(self._numbers):
            raise DataError("the stream is over, or was not begun; call reset")
        query, number = self._query(), self._numbers[self._step]
        answer = read_number(prediction.text)
        self._hint = None if answer is None else true_hint(answer, number, width=self.bucket)
        tags = change_tags(self._jumps, self._step)
        self._step += 1
        return Step(
            feedback=_feedback(query, prediction.text, self._hint),
            score=Score(value=_closeness(answer, number), gold=str(number), tags=tags),
            query=self._query() if self._step < len(self._numbers) else None,
        )

    def distort(self, feedback: Feedback, *, rng: np.random.Generator) -> Feedback:
        """Return the feedback of the last step with a false hint in place of the true one.

        Where no false one is possible, and where the answer was no number, it stays as it is.
        One number is drawn in any case.
        """
        draw = rng.random()
        if self._hint is None:
            return feedback
        wrong = false_hints(self._hint, corrupts=self.corrupts)
        if not wrong:
            return feedback
        false = wrong[int(draw * len(wrong))]
        return replace(
            feedback, correct=not false.side, comment=false.words, observed=str(false.interval)
        )

    def _query(self) -> Query:
        return Query(id=f"step-{self._step}", text=f"{STEP}{self._step}")


def read_number(text: str) -> int | None:
    """Return the number that an answer is; `None` where it is none from 1 to 100."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if LOWEST <= number <= HIGHEST else None


def parse_number(reply: str) -> str:
    """Return the last whole number of a model's reply; all of the reply where there is none.

    Examples:
        >>> parse_number("At step 41 I say 64.")
        '64'
    """
    numbers: list[str] = re.findall(r"-?\d+", reply)
    return numbers[-1] if numbers else reply.strip()


def step_of(query: Query) -> int:
    """Return the step that a query asks about."""
    return int(query.text.removeprefix(STEP))


def observed_interval(episode: Episode) -> Interval | None:
    """Return where the number was by the newest feedback; `None` where it does not say."""
    observed = episode.feedback[-1].observed
    return None if observed is None else read_interval(observed)


def tell(episode: Episode, *, say: Callable[[Interval], str]) -> str:
    """Put where the number was at one step into words; what was said, where it does not tell."""
    feedback = episode.feedback[-1]
    observed = episode.answer if feedback.correct else feedback.observed
    if observed is None:
        return feedback.comment or f"{episode.answer[:20]!r} was not right"
    return say(read_interval(observed))


def _feedback(query: Query, text: str, hint: Hint | None) -> Feedback:
    return Feedback(
        id=f"{query.id}:feedback",
        target_id=query.id,
        correct=hint is not None and not hint.side,
        comment=f"{text[:20]!r} is {NO_NUMBER}" if hint is None else hint.words,
        observed=None if hint is None else str(hint.interval),
    )


def _closeness(answer: int | None, number: int) -> float:
    return 0.0 if answer is None else 1 - abs(answer - number) / (HIGHEST - LOWEST)
