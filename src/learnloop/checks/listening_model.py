"""A model that keeps all that it was told: the double that checks look into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from learnloop.errors import LanguageModelError
from learnloop.types import CallRole, Message, Options, Reply, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One call, as it reached the model."""

    role: CallRole
    messages: tuple[Message, ...]

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n".join(message.content for message in self.messages)


class ListeningModel:
    """Answers with a function of what it is told, the same for the same, and keeps every call.

    Args:
        script: Gives the text of a reply.
        error: Raised by calls whose role is `fails_on`, instead of a reply.

    Examples:
        >>> model = ListeningModel(lambda heard: "4")
        >>> model.complete([Message(role="user", content="2 + 2?")], options=Options()).text
        '4'
        >>> model.heard[0].text
        '2 + 2?'
    """

    def __init__(
        self,
        script: Callable[[Heard], str],
        *,
        error: LanguageModelError | None = None,
        fails_on: Sequence[CallRole] = (),
    ) -> None:
        self.script = script
        self.error = error
        self.fails_on = tuple(fails_on)
        self.heard: list[Heard] = []

    @property
    def name(self) -> str:
        return "listening"

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        call = Heard(role=options.role, messages=tuple(messages))
        self.heard.append(call)
        if self.error is not None and options.role in self.fails_on:
            raise self.error
        text = self.script(call)
        usage = Usage(tokens_in=len(call.text.split()), tokens_out=len(text.split()), cost=0.0)
        return Reply(text=text, usage=usage)
