import pytest

from learnloop.errors import BadReplyError, RateLimitError, UnknownNameError
from learnloop.llm.scripted import SCRIPTS, Scripted, scripted
from learnloop.types import Message, Options

ASK = [Message(role="system", content="Be short."), Message(role="user", content="How are you ?")]


def test_replies_come_in_order_and_then_the_call_fails() -> None:
    model = Scripted(["one", "two"])
    texts = [model.complete(ASK, options=Options()).text for _ in range(2)]
    assert texts == ["one", "two"]
    with pytest.raises(BadReplyError, match="2 replies"):
        model.complete(ASK, options=Options())


def test_tokens_are_counted_in_words() -> None:
    usage = Scripted(["fine, thank you"]).complete(ASK, options=Options()).usage
    assert (usage.tokens_in, usage.tokens_out) == (6, 3)
    assert (usage.tokens_cached, usage.seconds, usage.cost) == (0, 0.0, 0.0)


def test_a_reply_longer_than_allowed_is_cut_between_words() -> None:
    reply = Scripted(["a\nb  c d"]).complete(ASK, options=Options(max_tokens=3))
    assert (reply.text, reply.finish_reason, reply.usage.tokens_out) == ("a\nb  c", "length", 3)


def test_a_scripted_failure_uses_up_no_reply() -> None:
    model = Scripted(["one"], failures={0: RateLimitError("busy", retry_after=1.0)})
    with pytest.raises(RateLimitError):
        model.complete(ASK, options=Options())
    assert model.complete(ASK, options=Options()).text == "one"
    assert model.calls == 2


def test_a_function_sees_messages_and_options() -> None:
    model = Scripted(lambda messages, options: f"{messages[0].content} {options.seed}")
    assert model.complete(ASK, options=Options(seed=4)).text == "Be short. 4"


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_every_script_can_be_made_and_is_named_after_itself(name: str) -> None:
    model = scripted(name)
    assert model.name == f"scripted/{name}"
    assert model.complete(ASK, options=Options()).text


def test_an_unknown_script_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"'nothing'; known: .*static"):
        scripted("nothing")
