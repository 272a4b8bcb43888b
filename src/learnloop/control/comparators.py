"""Comparators: an answer beside what was observed becomes an error, and words on a mismatch."""

from __future__ import annotations

import re

from learnloop.errors import ParameterError
from learnloop.types import Comparison, Feedback, Prediction

RIGHT = Comparison(error=0.0)
FAR = 10**9
"""How far off an answer is that is no number."""


class LabelComparator:
    """Error 1 where the answer is not the label that was observed, else 0.

    Without an observed label, what the feedback says of the answer it is about counts: whether it
    was right, or else whether it is the answer that was given as the correct one.
    """

    def compare(self, prediction: Prediction, feedback: Feedback) -> Comparison | None:
        if feedback.observed is not None:
            wrong = prediction.text != feedback.observed
        elif feedback.correct is not None:
            wrong = not feedback.correct
        elif feedback.correction is not None:
            wrong = prediction.text != feedback.correction
        else:
            return None
        return Comparison(error=1.0, words=feedback.comment or "") if wrong else RIGHT


class DistanceComparator:
    """Error by how many classes of distance the answer is off: 0 where it is exact, at most 1.

    The observation is a whole number or an interval `low-high`. An answer that is off by less
    than one class has the error `near`; from there the error grows evenly to 1 at `full` classes
    off. One that is no number has error 1. Where no number was observed, right is 0 and wrong 1.

    With `near=0.1, full=9` and classes of ten, numbers from 1 to 100 have errors in tenths, as
    many as the classes. With `full=1` a whole class off is as wrong as can be, and `near` says
    how much of an error it is to be off by less.

    Args:
        bucket: Width of a class of distance.
        near: Error of an answer that is off by less than a class, above 0 and at most 1.
        full: At how many classes off the error is 1.

    Examples:
        >>> comparator = DistanceComparator(bucket=10, near=0.5, full=2)
        >>> seen = Feedback(id="f", target_id="q", observed="61-70")
        >>> answers = ("65", "58", "50", "1")
        >>> made = [comparator.compare(Prediction(query_id="q", text=a), seen) for a in answers]
        >>> [one.error for one in made if one]
        [0.0, 0.5, 0.75, 1.0]
    """

    def __init__(self, *, bucket: int, near: float = 0.65, full: int = 1) -> None:
        if bucket < 1 or full < 1:
            raise ParameterError(f"bucket and full are at least 1, not {bucket!r} and {full!r}")
        if not 0 < near <= 1:
            raise ParameterError(f"near is above 0 and at most 1, not {near!r}")
        self.bucket = bucket
        self.near = near
        self.full = full

    def compare(self, prediction: Prediction, feedback: Feedback) -> Comparison | None:
        distance = _distance(prediction.text, feedback.observed)
        if distance is None:
            return None if feedback.correct is None else _by_flag(feedback)
        if distance == 0:
            return RIGHT
        share = min(1.0, distance // self.bucket / self.full)
        error = self.near + (1 - self.near) * share
        return Comparison(error=error, words=feedback.comment or "")


def _distance(answer: str, observed: str | None) -> int | None:
    """Return how far an answer is outside of what was observed; `None` where that is no number."""
    seen = None if observed is None else _INTERVAL.fullmatch(observed.strip())
    if seen is None:
        return None
    low = int(seen["low"])
    high = low if seen["high"] is None else int(seen["high"])
    if not _NUMBER.fullmatch(answer.strip()):
        return FAR
    number = int(answer)
    return max(low - number, number - high, 0)


def _by_flag(feedback: Feedback) -> Comparison:
    return RIGHT if feedback.correct else Comparison(error=1.0, words=feedback.comment or "")


_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_INTERVAL = re.compile(r"(?P<low>-?[0-9]{1,18})(?:\s*-\s*(?P<high>-?[0-9]{1,18}))?")
