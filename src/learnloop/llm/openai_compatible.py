"""Any endpoint that speaks the OpenAI chat format: hosted, or a server of one's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2
import openai

from learnloop import errors
from learnloop.llm.chat_format import read_reply, request_body
from learnloop.llm.endpoints import OPENAI
from learnloop.llm.prices import price
from learnloop.types import Message, Options, Reply

TIMEOUT = 120.0
"""Seconds to wait for an answer."""
NO_KEY = "none"
"""What is sent where an endpoint wants no key: the SDK insists on one."""


class OpenAICompatible:
    """Asks a model behind an endpoint. Never retries by itself.

    Args:
        base_url: Where the endpoint is; OpenAI's own where `None`.
        api_key: The key; endpoints of one's own mostly need none.
        model: What the endpoint calls the model.
        name: What the model is called in records.
        leave_out: Fields of a request that the endpoint refuses.
        http_client: A client to send requests with, for tests and proxies.
        clock: Measures seconds.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        model: str,
        name: str,
        leave_out: Sequence[str] = (),
        http_client: httpx2.Client | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.base_url = base_url or OPENAI
        self.model = model
        self.name = name
        self.leave_out = tuple(leave_out)
        self._clock = clock
        self._client = openai.OpenAI(
            base_url=self.base_url,
            api_key=api_key or NO_KEY,
            timeout=TIMEOUT,
            max_retries=0,
            http_client=http_client,
        )

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        body = request_body(messages, options) | {"model": self.model}
        if self.base_url == OPENAI:
            body["max_completion_tokens"] = body.pop("max_tokens")
        for field in self.leave_out:
            body.pop(field, None)
        started = self._clock()
        with self._explained():
            answer = self._client.post("/chat/completions", body=body, cast_to=_ANSWER)
        seconds = self._clock() - started
        if not isinstance(answer, Mapping):
            raise errors.BadReplyError(f"{self.name} sent {type(answer).__name__}, not an object")
        return read_reply(
            answer, seconds=seconds, cost=price(answer, model=self.model, url=self.base_url)
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the SDK's errors into ours."""
        try:
            yield
        except openai.APITimeoutError as error:
            raise errors.ModelTimeoutError(
                f"{self.name} gave no answer within {TIMEOUT:g} s"
            ) from error
        except openai.APIConnectionError as error:
            raise errors.ModelConnectionError(
                f"nobody answers at {self.base_url!r} ({error.__cause__ or error}); "
                "is the address right and the server running?"
            ) from error
        except openai.APIStatusError as error:
            raise _status_error(error, name=self.name) from error
        except openai.OpenAIError as error:
            raise errors.BadReplyError(f"{self.name} sent what cannot be read: {error}") from error


def _status_error(error: openai.APIStatusError, *, name: str) -> errors.LanguageModelError:
    said = f"{name} answered {error.status_code}: {error.message}"
    if error.status_code == HTTPStatus.TOO_MANY_REQUESTS and error.code != "insufficient_quota":
        return errors.RateLimitError(said, retry_after=retry_after(error.response.headers))
    if error.status_code == HTTPStatus.REQUEST_TIMEOUT:
        return errors.ModelTimeoutError(said)
    if error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return errors.ModelServerError(said)
    if error.code == "context_length_exceeded" or error.type == "exceed_context_size_error":
        return errors.ContextLengthError(said)
    return errors.ModelRequestError(said)


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return how many seconds a server asks to wait: a number or a date, `None` if it does not.

    Examples:
        >>> retry_after({"retry-after": "2.5"})
        2.5
        >>> retry_after({"retry-after-ms": "300"})
        0.3
        >>> retry_after({}) is None
        True
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        return _seconds_until(headers["retry-after"], now or datetime.now(UTC))


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - now).total_seconds())
    except (TypeError, ValueError):
        return None


_ANSWER = dict[str, object]
