"""A model that answers from a script: for tests and for trying out the plumbing without a model."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence

from learnloop.errors import BadReplyError, LanguageModelError, UnknownNameError
from learnloop.types import Message, Options, Reply, Usage

Script = Callable[[Sequence[Message], Options], str]


class Scripted:
    """Answers from a list, in order, or from a function of messages and options.

    Tokens are counted as words split at white space, of all messages and of the reply; nothing is
    cached, no time passes, and the cost is 0.

    Args:
        replies: Texts to give in order, after which a call fails; or a function.
        name: What the model is called in records.
        failures: Errors to raise instead of answering, by number of the call, from 0. A call that
            fails uses up no reply.

    Examples:
        >>> model = Scripted(["SELECT 1"])
        >>> model.complete([Message(role="user", content="How many?")], options=Options()).text
        'SELECT 1'
    """

    def __init__(
        self,
        replies: Sequence[str] | Script,
        *,
        name: str = "scripted/static",
        failures: Mapping[int, LanguageModelError] | None = None,
    ) -> None:
        self.name = name
        self._script = replies if callable(replies) else _in_order(replies)
        self._failures = dict(failures or {})
        self._lock = threading.Lock()
        self._calls = 0

    @property
    def calls(self) -> int:
        """Number of calls so far, failed ones included."""
        return self._calls

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        with self._lock:
            number = self._calls
            self._calls += 1
            if number in self._failures:
                raise self._failures[number]
            text = self._script(messages, options)
        return _reply(messages, text, options.max_tokens)


def scripted(name: str) -> Scripted:
    """Make the scripted model of that name: `static` answers a constant, `echo` the last message.

    Examples:
        >>> scripted("echo").complete([Message(role="user", content="Hi")], options=Options()).text
        'Hi'
    """
    if name not in SCRIPTS:
        raise UnknownNameError(
            f"no scripted model named {name!r}; known: {', '.join(sorted(SCRIPTS))}"
        )
    return Scripted(SCRIPTS[name], name=f"scripted/{name}")


def _in_order(replies: Sequence[str]) -> Script:
    """Return a script that gives the replies one after the other."""
    left = iter(tuple(replies))

    def give(messages: Sequence[Message], options: Options) -> str:
        text = next(left, None)
        if text is None:
            raise BadReplyError(f"the script of {len(replies)} replies has come to its end")
        return text

    return give


def _reply(messages: Sequence[Message], text: str, max_tokens: int) -> Reply:
    """Return the text, cut to `max_tokens` words, with both sides counted."""
    words = re.findall(r"\s*\S+", text)
    cut = len(words) > max_tokens
    return Reply(
        text="".join(words[:max_tokens]) if cut else text,
        usage=Usage(
            tokens_in=sum(len(message.content.split()) for message in messages),
            tokens_out=min(len(words), max_tokens),
            cost=0.0,
        ),
        finish_reason="length" if cut else "stop",
    )


def _static(messages: Sequence[Message], options: Options) -> str:
    return "SELECT 1"


def _echo(messages: Sequence[Message], options: Options) -> str:
    return messages[-1].content


SCRIPTS: Mapping[str, Script] = {"echo": _echo, "static": _static}
