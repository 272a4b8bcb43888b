"""The JSON of a chat completion: what is sent for messages and options, and what is read back.

Shared by the model in this process and by models behind an endpoint, which speak the same format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from learnloop.errors import BadReplyError
from learnloop.llm.thinking import split_thinking, thinking_tokens
from learnloop.types import Message, Options, Reply, Usage

SEED_STRIDE = 1_000_003


def request_body(messages: Sequence[Message], options: Options) -> dict[str, Any]:
    """Return the body of a request, without the name of a model.

    Examples:
        >>> request_body([Message(role="user", content="Hi")], Options(max_tokens=5))
        {'messages': [{'role': 'user', 'content': 'Hi'}], 'max_tokens': 5, 'temperature': 0.0, \
'seed': 0}
    """
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "seed": draw_seed(options),
    }
    if options.stop:
        body["stop"] = list(options.stop)
    if options.schema is not None:
        schema = {"name": "reply", "schema": dict(options.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def draw_seed(options: Options) -> int:
    """Return the sampler's seed: one number for seed and sample, the seed itself for sample 0.

    Examples:
        >>> draw_seed(Options(seed=7)), draw_seed(Options(seed=7, sample=1))
        (7, 1000010)
    """
    return (options.seed + SEED_STRIDE * options.sample) % 2**31


def read_reply(body: Mapping[str, Any], *, seconds: float, cost: float | None) -> Reply:
    """Read the first choice of a chat completion.

    Raises:
        BadReplyError: There is no text in it.
    """
    choices = body.get("choices")
    if not choices:
        raise BadReplyError(f"the reply holds no choices, only {sorted(body)!r}")
    message = choices[0].get("message") or {}
    thinking, text = split_thinking(message.get("content") or "")
    thinking = (message.get("reasoning_content") or "") + thinking
    finish_reason = choices[0].get("finish_reason")
    if not text.strip():
        raise BadReplyError(f"the model said nothing (finish_reason {finish_reason!r})")
    usage = read_usage(body.get("usage") or {}, thinking=thinking, text=text)
    return Reply(
        text=text,
        usage=Usage(**usage, seconds=seconds, cost=cost),
        finish_reason="length" if finish_reason == "length" else "stop",
    )


def read_usage(usage: Mapping[str, Any], *, thinking: str, text: str) -> dict[str, int]:
    """Return the four token counts of `Usage`; those of thinking estimated where not given."""
    details_in = usage.get("prompt_tokens_details") or {}
    details_out = usage.get("completion_tokens_details") or {}
    tokens_out = int(usage.get("completion_tokens") or 0)
    exact = details_out.get("reasoning_tokens")
    return {
        "tokens_in": int(usage.get("prompt_tokens") or 0),
        "tokens_cached": int(details_in.get("cached_tokens") or 0),
        "tokens_out": tokens_out,
        "tokens_thinking": thinking_tokens(thinking, text, tokens_out) if not exact else int(exact),
    }
