"""Finds which of the numbered diagnoses a model named, by number, by name or by both."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_MOST_READ = 25_000
_LABEL = re.compile(r"""\b(?:answer|diagnosis)\b["'*_]*[ \t]{0,9}(?:is\b|[:=])""", re.I)
_MARKED = re.compile(r"(?<![\d.])(\d{1,3})(?=[ \t]?[.):])(?!\.\d)")
_LEADING = re.compile(r"\W*(?:number )?(\d{1,3})(?=[ \t]?(?:[.):\]}\"'*`]|$))(?!\.\d)", re.I | re.M)


class Diagnoses:
    """The diagnoses to choose from, numbered from 0, and what reads a reply.

    Args:
        names: The diagnoses in the order of their numbers.

    Examples:
        >>> known = Diagnoses(["Anemia", "Guillain-Barré syndrome"])
        >>> known.parse("It is most likely Guillain-Barre Syndrome.")
        '1. Guillain-Barré syndrome'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._numbers = {_folded(name): number for number, name in enumerate(self.names)}
        longest_first = sorted(self._numbers, key=len, reverse=True)
        either = "|".join(map(re.escape, longest_first))
        self._name = re.compile(rf"\b(?:{either})\b")
        self._numbered = re.compile(rf"\b(\d{{1,3}}) (?=({either})\b)")

    @property
    def options(self) -> str:
        """One diagnosis a line, with its number."""
        return "\n".join(self.text(number) for number in range(len(self.names)))

    def text(self, number: int) -> str:
        """Return a diagnosis as an answer: `7. Anaphylaxis`."""
        return f"{number}. {self.names[number]}"

    def number(self, name: str) -> int | None:
        """Return the number of a name in any case, with or without its accents."""
        return self._numbers.get(_folded(name))

    def parse(self, reply: str) -> str:
        """Return the diagnosis of a reply as `number. name`; the reply itself where it has none.

        What follows the last `Diagnosis:` or `Answer is` counts, if anything is named there. A
        number with its own name counts most. Then comes what the text begins with: a number, or
        the name after it where that is the name of another. Last come the first name anywhere,
        and the first number with a point, a colon or a bracket.
        """
        reply = reply[:_MOST_READ]
        labels = list(_LABEL.finditer(reply))
        ends = [reply[labels[-1].end() :]] if labels else []
        for text in [*ends, reply]:
            number = self._find(text)
            if number is not None:
                return self.text(number)
        return reply.strip().encode("utf-8", "replace").decode("utf-8")

    def parse_published(self, reply: str) -> str:
        """Return the diagnosis of the first number with a point, wherever it stands.

        Published code reads nothing else, but for angle brackets, which it takes out first: models
        copy them from the form that is asked for. Where there is no such number, or none of the
        list, the answer is the number after the last one, which is never right.
        """
        found = re.search(r"(?<!\d)(\d+)\.", re.sub("[<>]", "", reply))
        digits = found.group(1).lstrip("0") if found else ""
        number = int(digits or 0) if found and len(digits) <= _DIGITS else len(self.names)
        if number < len(self.names):
            return self.text(number)
        return f"{len(self.names)}. {NONE_OF_THEM}"

    def _find(self, text: str) -> int | None:
        folded = _folded(text)
        for found in self._numbered.finditer(folded):
            if self._numbers[found[2]] == int(found[1]):
                return int(found[1])
        leading = _LEADING.match(text)
        named = self._name.search(folded)
        if leading and int(leading[1]) < len(self.names):
            close = self._name.match(_folded(text[leading.end() :]))
            return self._numbers[close[0]] if close else int(leading[1])
        if named:
            return self._numbers[named[0]]
        marked = [int(digits) for digits in _MARKED.findall(text)]
        return next((number for number in marked if number < len(self.names)), None)


_DIGITS = 4
NONE_OF_THEM = "none of the listed diagnoses"
"""What stands for an answer that is in no list, with the number after the last one."""


def _folded(text: str) -> str:
    """Return words and numbers only, in lower case and without accents, one space between."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", bare))
