"""Compares short answers as SQuAD does: normalised, exactly and by the words they share."""

from __future__ import annotations

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})


def normalise(text: str) -> str:
    """Return a text in lower case, without punctuation, articles and spare white space.

    Punctuation goes first and is that of ASCII, so that `the-end` is one word and keeps its `the`.

    Examples:
        >>> normalise("The U.S.A., a  country!")
        'usa country'
    """
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, gold: str) -> bool:
    """Tell whether two answers are the same once normalised."""
    return normalise(answer) == normalise(gold)


def f1(answer: str, gold: str) -> float:
    """Return the F1 over the words of two answers, each word as often as it stands in both.

    `yes` and `no` share nothing with any other answer, as HotpotQA has it.

    Examples:
        >>> f1("the red red house", "a red house")
        0.8
    """
    said, wanted = normalise(answer), normalise(gold)
    if said != wanted and _CLOSED & {said, wanted}:
        return 0.0
    words, truth = said.split(), wanted.split()
    return _harmonic(sum((Counter(words) & Counter(truth)).values()), words, truth)


def published_f1(answer: str, gold: str) -> float:
    """Return the F1 of the published code, which counts a shared word once however often it stands.

    Examples:
        >>> round(published_f1("New York New York", "New York New York"), 2)
        0.5
    """
    words, truth = normalise(answer).split(), normalise(gold).split()
    return _harmonic(len(set(words) & set(truth)), words, truth)


def _harmonic(common: int, words: list[str], truth: list[str]) -> float:
    if not words or not truth:
        return float(words == truth)
    return 2 * common / (len(words) + len(truth))
