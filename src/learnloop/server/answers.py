"""What an answer says, heard whole or piece by piece; a reply that makes no sense says nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from learnloop.llm.chat_format import read_usage
from learnloop.llm.thinking import split_thinking
from learnloop.types import Usage


class Listener:
    """Puts together the text, the tool calls and the counts of the first choice.

    Attributes:
        finish_reason: Why it ended; `None` where it did not.
        counts: The usage as the upstream gave it.

    Examples:
        >>> listener = Listener()
        >>> for word in ("Hel", "lo"):
        ...     listener.hear({"choices": [{"index": 0, "delta": {"content": word}}]})
        >>> listener.answer
        'Hello'
    """

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.counts: Mapping[str, Any] = {}
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._tools: dict[int, dict[str, str]] = {}

    def hear(self, content: Mapping[str, Any]) -> None:
        """Take in a completion, or one chunk of it."""
        self.counts = _mapping(content.get("usage")) or self.counts
        for choice in _sequence(content.get("choices")):
            if _mapping(choice).get("index", 0) == 0:
                self._hear_choice(_mapping(choice))

    @property
    def answer(self) -> str:
        """What was said; tool calls as JSON where there is no text."""
        text = split_thinking("".join(self._texts))[1]
        if text.strip() or not self._tools:
            return text
        return json.dumps([self._tools[n] for n in sorted(self._tools)], ensure_ascii=False)

    def usage(self, *, seconds: float, cost: float | None) -> Usage:
        """Return the counts as records have them; zeros where the upstream gave none."""
        thinking, text = split_thinking("".join(self._texts))
        try:
            read = read_usage(self.counts, thinking="".join(self._thoughts) + thinking, text=text)
        except (TypeError, ValueError, AttributeError, OverflowError):
            read = {}
        return Usage(**read, seconds=seconds, cost=cost)

    def _hear_choice(self, choice: Mapping[str, Any]) -> None:
        said = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self._texts += _text(said.get("content")) or _text(said.get("refusal"))
        self._thoughts += _text(said.get("reasoning_content"))
        for place, call in enumerate(_sequence(said.get("tool_calls"))):
            self._hear_tool(place, _mapping(call))
        reason = choice.get("finish_reason")
        self.finish_reason = reason if isinstance(reason, str) else self.finish_reason

    def _hear_tool(self, place: int, call: Mapping[str, Any]) -> None:
        given = call.get("index", place)
        number = given if isinstance(given, int) else place
        function = _mapping(call.get("function"))
        tool = self._tools.setdefault(number, {"name": "", "arguments": ""})
        for name in tool:
            tool[name] += "".join(_text(function.get(name)))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> list[str]:
    return [value] if isinstance(value, str) else []
