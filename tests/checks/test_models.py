import json
from dataclasses import replace
from pathlib import Path

import pytest

from learnloop.checks.models import SCHEMA, check_language_model
from learnloop.errors import ContextLengthError
from learnloop.llm.cached import Cached
from learnloop.llm.metered import Ledger, Metered
from learnloop.llm.retrying import Retrying
from learnloop.llm.scripted import SCRIPTS, Scripted, scripted
from learnloop.types import Reply, Usage

CONTEXT = 200


def obliging(messages, options):
    """Answer in words, or in JSON where a schema is given; refuse what is too long."""
    if sum(len(message.content.split()) for message in messages) > CONTEXT:
        raise ContextLengthError("too long")
    return json.dumps({"word": "blue"}) if options.schema else "yes"


MODELS = {
    "scripted": lambda path: Scripted(obliging),
    "cached": lambda path: Cached(Scripted(obliging), path),
    "cached with failures": lambda path: Cached(Scripted(obliging), path, failure_scope="run"),
    "retrying": lambda path: Retrying(Scripted(obliging)),
    "metered": lambda path: Metered(Scripted(obliging), Ledger()),
    "all of them": lambda path: Metered(Cached(Retrying(Scripted(obliging)), path), Ledger()),
}


@pytest.mark.parametrize("kind", MODELS)
def test_models_and_their_wrappers_keep_the_contract(kind: str, tmp_path: Path) -> None:
    check_language_model(MODELS[kind](tmp_path / "responses.sqlite"), context=CONTEXT)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_scripted_models_keep_the_contract_but_for_schemas(name: str) -> None:
    check_language_model(scripted(name), schema=False)


class Broken(Scripted):
    """Breaks the contract in one way: `change` is made to each reply."""

    def __init__(self, change):
        super().__init__(obliging)
        self.change = change

    def complete(self, messages, *, options):
        reply = super().complete(messages, options=options)
        return self.change(self, messages, options, reply)


def spent(**counts):
    return lambda model, messages, options, reply: replace(reply, usage=Usage(**counts))


def forgetful(model, messages, options, reply):
    return replace(reply, text=f"{reply.text} {model.calls}")


def meddling(model, messages, options, reply):
    messages.append(messages[0])
    return reply


def talkative(model, messages, options, reply):
    return replace(reply, usage=replace(reply.usage, tokens_out=options.max_tokens + 1))


def free_form(model, messages, options, reply):
    return replace(reply, text="blue") if options.schema else reply


def silent(model, messages, options, reply):
    return Reply(text=" ", usage=reply.usage)


def another_shape(model, messages, options, reply):
    return replace(reply, text='{"colour": "blue"}') if options.schema == SCHEMA else reply


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spent(tokens_in=3, tokens_cached=4, tokens_out=1), "tokens_cached"),
        (spent(tokens_in=3, tokens_out=1, tokens_thinking=2), "tokens_thinking"),
        (spent(tokens_in=3, tokens_out=1, seconds=-1.0), "seconds"),
        (spent(tokens_in=3, tokens_out=1, cost=-1.0), "cost"),
        (spent(tokens_out=1), "tokens_in"),
        (forgetful, "replies differ"),
        (meddling, "changed its arguments"),
        (talkative, "asked for 3 tokens"),
        (free_form, "asked for JSON"),
        (another_shape, "the key 'word' alone"),
        (silent, "BadReplyError"),
    ],
)
def test_a_broken_model_is_found_out(change, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_language_model(Broken(change))


def test_a_model_that_answers_what_does_not_fit_is_found_out() -> None:
    with pytest.raises(AssertionError, match="more than 5 tokens were answered"):
        check_language_model(scripted("static"), schema=False, context=5)
