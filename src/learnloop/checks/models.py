"""What every language model must do, also those of plugins: call `check_language_model` on yours.

A dozen short calls. A model behind a wrapper must pass as it does alone.
"""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor

from learnloop.errors import ContextLengthError
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options, Reply

SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 20}},
    "required": ["word"],
    "additionalProperties": False,
}
FEW = 12
"""Tokens allowed to most replies, so that the checks are quick."""
THREADS = 4


def check_language_model(
    model: LanguageModel, *, schema: bool = True, context: int | None = None
) -> None:
    """Check a model against the contract.

    Args:
        model: Any language model.
        schema: Whether it is said to follow a JSON schema.
        context: Tokens that it can take at once, where more must be refused; not tried if `None`,
            since an endpoint may charge for it.

    Raises:
        AssertionError: It breaks the contract; the message says where.
    """
    check_reply(model)
    check_arguments_are_left_alone(model)
    check_same_question_same_reply(model)
    check_max_tokens_is_kept_to(model)
    check_threads(model)
    if schema:
        check_schema_is_followed(model)
    if context is not None:
        check_too_long_is_refused(model, context=context)


def check_reply(model: LanguageModel) -> None:
    """A reply has text, a reason to end, and counts that agree with each other."""
    assert model.name, "the name must not be empty: it is part of every record and cache key"
    reply = _ask(model, "Say yes.")
    usage = reply.usage
    assert reply.text.strip(), "a reply without text must be a BadReplyError"
    assert reply.finish_reason in ("stop", "length"), f"finish_reason {reply.finish_reason!r}"
    assert usage.tokens_in > 0, f"tokens_in must be counted, got {usage.tokens_in!r}"
    assert usage.tokens_out > 0, f"tokens_out must be counted, got {usage.tokens_out!r}"
    assert 0 <= usage.tokens_cached <= usage.tokens_in, f"tokens_cached is no part of it: {usage!r}"
    assert 0 <= usage.tokens_thinking <= usage.tokens_out, f"tokens_thinking too many: {usage!r}"
    assert usage.seconds >= 0, f"seconds must not be negative, got {usage.seconds!r}"
    assert usage.cost is None or usage.cost >= 0, f"cost must not be negative, got {usage.cost!r}"


def check_arguments_are_left_alone(model: LanguageModel) -> None:
    """Neither messages nor options are changed."""
    messages, options = _messages("Say no."), Options(max_tokens=FEW, schema=dict(SCHEMA))
    before = copy.deepcopy((messages, options))
    model.complete(messages, options=Options(max_tokens=FEW))
    model.complete(messages, options=options)
    assert (messages, options) == before, "complete changed its arguments"


def check_same_question_same_reply(model: LanguageModel) -> None:
    """At temperature 0 a question gets the same reply, whatever was asked in between."""
    first = _ask(model, "Name a colour.")
    _ask(model, "Name a colour of the sky, and say why the sky has it.")
    again = _ask(model, "Name a colour.")
    assert again.text == first.text, f"replies differ: {first.text!r} and {again.text!r}"
    for count in ("tokens_in", "tokens_out", "tokens_thinking"):
        one, two = getattr(first.usage, count), getattr(again.usage, count)
        assert one == two, f"{count} differs for the same question: {one!r} and {two!r}"


def check_max_tokens_is_kept_to(model: LanguageModel) -> None:
    """No reply is longer than asked for, and one that was cut says so."""
    reply = _ask(model, "Count from 1 to 50 in words.", max_tokens=3)
    assert reply.usage.tokens_out <= 3, f"asked for 3 tokens, got {reply.usage.tokens_out}"


def check_schema_is_followed(model: LanguageModel) -> None:
    """A reply that must follow a JSON schema does."""
    options = Options(max_tokens=40, schema=SCHEMA)
    reply = model.complete(_messages('Reply in JSON: {"word": a colour}.'), options=options)
    try:
        found = json.loads(reply.text)
    except json.JSONDecodeError as error:
        raise AssertionError(f"asked for JSON, got {reply.text!r}") from error
    assert isinstance(found, dict), f"asked for an object, got {reply.text!r}"
    assert list(found) == ["word"], f"asked for the key 'word' alone, got {reply.text!r}"
    assert isinstance(found["word"], str), f"asked for a text under 'word', got {reply.text!r}"


def check_threads(model: LanguageModel) -> None:
    """Calls from several threads are answered each by its own reply.

    The questions have different lengths, by which a mix-up shows.
    """
    questions = ["Say yes." + " Please." * number for number in range(THREADS)]
    alone = [_ask(model, question, max_tokens=4).usage.tokens_in for question in questions]
    with ThreadPoolExecutor(THREADS) as pool:
        replies = pool.map(lambda question: _ask(model, question, max_tokens=4), questions)
        together = [reply.usage.tokens_in for reply in replies]
    assert together == alone, f"tokens read differ between threads: {together!r}, alone {alone!r}"


def check_too_long_is_refused(model: LanguageModel, *, context: int) -> None:
    """Messages that do not fit are a `ContextLengthError`, and the next call is answered."""
    try:
        _ask(model, "word " * (context + 1))
    except ContextLengthError:
        check_reply(model)
        return
    raise AssertionError(f"more than {context} tokens were answered")


def _ask(model: LanguageModel, question: str, *, max_tokens: int = FEW) -> Reply:
    return model.complete(_messages(question), options=Options(max_tokens=max_tokens))


def _messages(question: str) -> list[Message]:
    return [Message(role="system", content=ROLE), Message(role="user", content=question)]


ROLE = "You answer as briefly as you can, in plain words."
