import json
from collections.abc import Callable
from datetime import UTC, datetime

import httpx2
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
from learnloop.llm.openai_compatible import OpenAICompatible, retry_after
from learnloop.types import Message, Options, Reply

ASK = [Message(role="system", content="Be short."), Message(role="user", content="How many?")]
Handler = Callable[[httpx2.Request], httpx2.Response]


def completion(content: str | None = "four", **usage: object) -> dict[str, object]:
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3} | usage,
    }


def ask(
    handler: Handler, *, base_url: str | None = "http://models.test/v1", **options: object
) -> Reply:
    ticks = iter([10.0, 12.5])
    model = OpenAICompatible(
        base_url=base_url,
        api_key="secret",
        model="gpt-4o-mini",
        name="openai/gpt-4o-mini",
        http_client=httpx2.Client(transport=httpx2.MockTransport(handler)),
        clock=lambda: next(ticks),
    )
    try:
        return model.complete(ASK, options=Options(**options))  # type: ignore[arg-type]
    finally:
        model.close()


def answering(body: object, status: int = 200, **headers: str) -> Handler:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx2.Response(status, json=body, headers=named)


def test_a_reply_comes_with_its_usage_and_the_seconds_it_took() -> None:
    body = completion(prompt_tokens_details={"cached_tokens": 8})
    reply = ask(answering(body))
    assert (reply.text, reply.finish_reason) == ("four", "stop")
    usage = reply.usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (12, 8, 3)
    assert usage.seconds == 2.5


def test_what_is_sent_follows_messages_and_options() -> None:
    sent: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json=completion())

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    ask(handler, schema=schema, stop=("END",), seed=5, max_tokens=9, temperature=0.5)
    assert str(sent[0].url) == "http://models.test/v1/chat/completions"
    assert sent[0].headers["authorization"] == "Bearer secret"
    assert json.loads(sent[0].content) == {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "How many?"},
        ],
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 5,
        "stop": ["END"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        },
    }


def test_openai_itself_is_told_the_limit_under_its_new_name() -> None:
    sent: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json=completion())

    ask(handler, base_url=None, max_tokens=9)
    body = json.loads(sent[0].content)
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body


def test_each_sample_is_drawn_with_another_seed() -> None:
    seeds: list[int] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seeds.append(json.loads(request.content)["seed"])
        return httpx2.Response(200, json=completion())

    for sample in range(3):
        ask(handler, sample=sample, seed=1)
    assert seeds[0] == 1
    assert len(set(seeds)) == 3


def test_thinking_counted_by_the_server_is_exact() -> None:
    details = {"reasoning_tokens": 2}
    reply = ask(answering(completion("<think>hm</think>four", completion_tokens_details=details)))
    assert (reply.text, reply.usage.tokens_thinking) == ("four", 2)


def test_thinking_that_nobody_counted_is_estimated_by_its_share() -> None:
    reply = ask(answering(completion("<think>abcdefgh</think>four", completion_tokens=9)))
    assert (reply.text, reply.usage.tokens_thinking) == ("four", 6)


def test_thinking_in_a_field_of_its_own_is_counted() -> None:
    body = completion(completion_tokens=12)
    body["choices"][0]["message"]["reasoning_content"] = "abcdefgh"  # type: ignore[index]
    assert ask(answering(body)).usage.tokens_thinking == 8


def test_the_cost_of_a_known_model_is_computed_and_else_unknown() -> None:
    body = completion(prompt_tokens=1_000_000, completion_tokens=1_000_000)
    # gpt-4o-mini: $0.15 a million tokens in, $0.60 out
    assert ask(answering(body), base_url=None).usage.cost == pytest.approx(0.75)
    assert ask(answering(body)).usage.cost is None


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"message": "no", "code": "context_length_exceeded"}, ContextLengthError),
        (400, {"message": "no", "type": "exceed_context_size_error"}, ContextLengthError),
        (400, {"message": "no"}, ModelRequestError),
        (401, {"message": "no"}, ModelRequestError),
        (404, {"message": "no"}, ModelRequestError),
        (408, {"message": "no"}, ModelTimeoutError),
        (429, {"message": "no"}, RateLimitError),
        (429, {"message": "no", "code": "insufficient_quota"}, ModelRequestError),
        (500, {"message": "no"}, ModelServerError),
        (503, {"message": "no"}, ModelServerError),
    ],
)
def test_every_refusal_is_a_typed_error(
    status: int, error: dict[str, str], kind: type[LanguageModelError]
) -> None:
    with pytest.raises(kind, match=f"gpt-4o-mini answered {status}"):
        ask(answering({"error": error}, status))


def test_nothing_is_retried_below_the_retry_layer() -> None:
    calls: list[int] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        calls.append(1)
        return httpx2.Response(500, json={"error": {"message": "down"}})

    with pytest.raises(ModelServerError):
        ask(handler)
    assert len(calls) == 1


def test_a_rate_limit_says_how_long_to_wait() -> None:
    with pytest.raises(RateLimitError) as caught:
        ask(answering({"error": {"message": "slow down"}}, 429, retry_after="4"))
    assert caught.value.retry_after == 4.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, 0.0),
    ],
)
def test_a_wait_may_be_a_date(headers: dict[str, str], seconds: float | None) -> None:
    now = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)
    assert retry_after(headers, now=now) == seconds


def test_nobody_there_is_a_connection_error_that_names_the_address() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with pytest.raises(ModelConnectionError, match=r"http://models\.test/v1.*refused"):
        ask(handler)


def test_no_answer_in_time_is_a_timeout() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("late")

    with pytest.raises(ModelTimeoutError, match="120 s"):
        ask(handler)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        completion(""),
        completion(None),
        completion("<think>on and on"),
        ["a list"],
        "text",
        None,
    ],
)
def test_a_reply_without_text_is_no_reply(body: object) -> None:
    with pytest.raises(BadReplyError):
        ask(answering(body))


def test_a_page_that_is_not_json_is_no_reply() -> None:
    with pytest.raises(BadReplyError):
        ask(lambda request: httpx2.Response(200, text="<html>a proxy</html>"))
