import json
from collections.abc import Sequence

import pytest

from learnloop.errors import ModelConnectionError
from learnloop.llm.probing import Probe, probe, seconds_a_step, verdict
from learnloop.llm.scripted import Scripted
from learnloop.types import Message, Options, Reply, Usage


class Timed:
    """Reads 100 tokens a second and writes 10, and answers as asked."""

    name = "timed"
    context = 4096

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        tokens_in = sum(len(message.content) for message in messages) // 4
        tokens_out = min(options.max_tokens, 40)
        usage = Usage(
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            seconds=tokens_in / 100 + (tokens_out / 10 if tokens_out > 1 else 0.0),
        )
        text = json.dumps({"n": 4}) if options.schema else "- one rule\n- another"
        return Reply(text=text, usage=usage)


def test_a_model_that_keeps_to_the_formats_is_fit_and_its_speed_is_measured() -> None:
    found = probe(Timed())
    assert found.fit
    assert found.context == 4096
    assert found.reads_per_second == pytest.approx(100)
    assert found.writes_per_second == pytest.approx(10)
    assert seconds_a_step(found) == pytest.approx(350 / 100 + 50 / 10)


def test_a_failed_call_is_a_finding() -> None:
    found = probe(Scripted([], failures={0: ModelConnectionError("nobody there")}))
    assert not found.fit
    assert verdict(found) == ("scripted/static gave no answer: ModelConnectionError: nobody there",)


def test_each_thing_that_is_missing_has_its_advice() -> None:
    said = verdict(Probe(model="m", reads_per_second=50.0, writes_per_second=10.0))
    assert [line.split(":")[0] for line in said[:2]] == [
        "m did not write at most 5 bullets when asked",
        "m did not follow a JSON schema",
    ]
    assert said[2] == "A step of house_rules takes about 12 s with it."


@pytest.mark.parametrize("text", ["", "A rule.", "- one\nand more", "- a\n" * 6, "1. a\n2. b"])
def test_what_is_no_list_of_bullets_does_not_pass(text: str) -> None:
    model = Scripted(lambda messages, options: '{"n": 4}' if options.schema else text or " ")
    found = probe(model)
    assert found.follows_schema
    assert not found.writes_bullets
