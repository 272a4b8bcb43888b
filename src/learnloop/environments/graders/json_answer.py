"""Finds the short answer in what a model says: a JSON object, a labelled line or the whole text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

_MOST_READ = 25_000  # little enough to try every brace at once
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_LABEL = re.compile(r"""\banswer\b["'*_]*[ \t]{0,9}(?:is\b|[:=])([^\n]*)""", re.I)
_AROUND = " \t\r\n\"'`{}*_:"
_NO_KEY = object()


def write_answer(text: str | None) -> str:
    """Return an answer as a model is asked to write it.

    Examples:
        >>> write_answer("Kraków")
        '{"answer": "Kraków"}'
    """
    return json.dumps({"answer": text}, ensure_ascii=False)


def read_answer(written: str) -> str | None:
    """Return the text of a written answer; anything that is none is its own text.

    `None` stands for an answer on which the published code crashes.
    """
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return written
    if not isinstance(found, dict) or set(found) != {"answer"}:
        return written
    answer = found["answer"]
    return answer if answer is None or isinstance(answer, str) else written


def parse_answer(reply: str) -> str:
    """Return the answer of a reply, written as JSON.

    The first JSON object with an `answer` counts, whatever kind of value that is; else what
    follows the last `answer:`; else the whole text.

    Examples:
        >>> parse_answer('Sure: {"answer": 1969}')
        '{"answer": "1969"}'
        >>> parse_answer("The answer is: Neil Armstrong")
        '{"answer": "Neil Armstrong"}'
    """
    reply = reply[:_MOST_READ]
    for found in _objects(reply):
        value = next((found[key] for key in found if key.strip().lower() == "answer"), _NO_KEY)
        if value is not _NO_KEY:
            with suppress(RecursionError):  # lists in lists by the hundred are no answer
                return write_answer(_without_surrogates(_text(value)))
    labelled = [after.strip(_AROUND) for after in _LABEL.findall(reply)]
    answers = [reply.strip(), *filter(None, labelled)]
    return write_answer(_without_surrogates(answers[-1]))


def parse_published_answer(reply: str) -> str:
    r"""Return the answer of a reply as the published code reads it, written as JSON in ASCII.

    The first balanced braces, counted without regard to strings, are read as JSON. Braces without
    the key `answer` are the answer themselves; what cannot be read leaves the whole reply.

    A `}` before the first `{` and an answer that is no text crash the published run. Here they
    give `null`, which is counted as wrong.

    Examples:
        >>> parse_published_answer('It is {"answer": "Kraków"}, of course.')
        '{"answer": "Krak\\u00f3w"}'
        >>> parse_published_answer('{"answer": ["Paris"]}')
        '{"answer": null}'
    """
    braces = _balanced(reply)
    if braces is None:
        return json.dumps({"answer": None})
    try:
        found = json.loads(braces)
    except json.JSONDecodeError:
        return json.dumps({"answer": reply})
    except (ValueError, RecursionError):
        return json.dumps({"answer": None})
    answer = found.get("answer", braces)
    return json.dumps({"answer": answer if isinstance(answer, str) else None})


def _objects(text: str) -> Iterator[dict[str, object]]:
    start = text.find("{")
    while start >= 0:
        with suppress(ValueError, RecursionError):
            yield _DECODER.raw_decode(text, start)[0]
        start = text.find("{", start + 1)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(one) for one in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _balanced(text: str) -> str | None:
    """Return the first balanced braces, `""` where there are none, `None` where `}` comes first."""
    start, depth = -1, 0
    for place, character in enumerate(text):
        if character == "{":
            start = place if depth == 0 else start
            depth += 1
        elif character == "}":
            if depth == 0:
                return None
            depth -= 1
            if depth == 0:
                return text[start : place + 1]
    return ""
