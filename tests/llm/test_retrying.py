import pytest

from learnloop.errors import (
    BadReplyError,
    ContextLengthError,
    LanguageModelError,
    ModelConnectionError,
    ModelRequestError,
    ModelServerError,
    ModelTimeoutError,
    RateLimitError,
)
from learnloop.llm.retrying import Retrying
from learnloop.llm.scripted import Scripted
from learnloop.types import Message, Options

ASK = [Message(role="user", content="How many?")]


def ask(failures: list[LanguageModelError], *, attempts: int = 5) -> tuple[str, int, list[float]]:
    waited: list[float] = []
    model = Scripted(["yes"], failures=dict(enumerate(failures)))
    retrying = Retrying(model, attempts=attempts, sleep=waited.append)
    reply = retrying.complete(ASK, options=Options())
    return reply.text, model.calls, waited


@pytest.mark.parametrize(
    "error", [ModelConnectionError("x"), ModelTimeoutError("x"), ModelServerError("x")]
)
def test_what_may_pass_is_tried_again(error: LanguageModelError) -> None:
    text, calls, waited = ask([error])
    assert (text, calls, len(waited)) == ("yes", 2, 1)


@pytest.mark.parametrize(
    "error", [BadReplyError("x"), ContextLengthError("x"), ModelRequestError("x")]
)
def test_what_cannot_pass_is_not_tried_again(error: LanguageModelError) -> None:
    model = Scripted(["yes"], failures={0: error})
    with pytest.raises(type(error)):
        Retrying(model, sleep=lambda seconds: None).complete(ASK, options=Options())
    assert model.calls == 1


def test_each_wait_is_twice_the_one_before() -> None:
    _, _, waited = ask([ModelServerError("x")] * 4)
    assert waited == [0.5, 1.0, 2.0, 4.0]


def test_the_wait_that_the_server_asks_for_is_kept_to() -> None:
    _, _, waited = ask([RateLimitError("x", retry_after=7.5), RateLimitError("x", retry_after=0.0)])
    assert waited == [7.5, 0.0]


def test_a_rate_limit_without_a_time_waits_as_any_failure_does() -> None:
    _, _, waited = ask([RateLimitError("x")])
    assert waited == [0.5]


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    model = Scripted(["yes"], failures={0: RateLimitError("x", retry_after=3600.0)})
    with pytest.raises(RateLimitError):
        Retrying(model, sleep=lambda seconds: None).complete(ASK, options=Options())
    assert model.calls == 1


def test_the_last_error_is_raised_when_all_attempts_fail() -> None:
    errors = {0: ModelServerError("first"), 1: ModelTimeoutError("second")}
    model = Scripted(["yes"], failures=errors)
    with pytest.raises(ModelTimeoutError, match="second"):
        Retrying(model, attempts=2, sleep=lambda seconds: None).complete(ASK, options=Options())
    assert model.calls == 2
