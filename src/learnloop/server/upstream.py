"""The answering models over HTTP: requests are passed on to them, and never tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import httpx2

from learnloop.errors import InputError, RequestRefusedError
from learnloop.llm.endpoints import Address
from learnloop.server.models import Models

CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """One model behind an address.

    Attributes:
        name: What the config calls it.
        free: Whether it costs nothing: it runs on this machine.
        seconds: How long it may be silent, and how long an answer in one piece may take.
    """

    name: str
    address: Address
    free: bool
    seconds: float
    client: httpx2.AsyncClient = field(repr=False)

    @asynccontextmanager
    async def post(self, path: str, content: bytes) -> AsyncIterator[httpx2.Response]:
        """Send a body and lend the response, whatever its status, before its body is read.

        Raises:
            RequestRefusedError: Nobody answers (502), or not in time (504).
        """
        headers = {"content-type": "application/json"}
        if self.address.api_key:
            headers["authorization"] = f"Bearer {self.address.api_key}"
        url = self.address.base_url.rstrip("/") + path
        with self.explained():
            request = self.client.build_request("POST", url, content=content, headers=headers)
            response = await self.client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn failures of the connection into what a client of the OpenAI API understands."""
        try:
            yield
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise RequestRefusedError(
                f"the model {self.name!r} gave no answer within {self.seconds:g} seconds",
                status=504,
                code="upstream_timeout",
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise RequestRefusedError(
                f"the model {self.name!r} cannot be reached ({type(error).__name__}); "
                "is its server running?",
                status=502,
                code="upstream_unreachable",
            ) from error


class Upstreams:
    """Finds the upstream of a model name; all share one client with its connections.

    Args:
        models: Say where models are.
        seconds: How long an answer may take.
    """

    def __init__(self, models: Models, *, seconds: float) -> None:
        self.models = models
        self.seconds = seconds
        self.client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=256),
            headers={"accept-encoding": "identity", "user-agent": "learnloop"},
        )
        self._found: dict[str, Upstream] = {}

    async def find(self, name: str) -> Upstream:
        """Return the upstream of a model; a local model is started where it is not running.

        Raises:
            RequestRefusedError: It has no key, or is not on this machine (503).
        """
        if name not in self._found:
            try:
                address = await asyncio.to_thread(self.models.address, name)
            except InputError as error:
                raise RequestRefusedError(
                    str(error), status=503, code="upstream_not_ready"
                ) from error
            self._found[name] = Upstream(
                name=name,
                address=address,
                free=name.startswith(("local", "file:")),
                seconds=self.seconds,
                client=self.client,
            )
        return self._found[name]

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those headers of an upstream's response that its clients act on.

    Examples:
        >>> passed_headers({"retry-after": "2", "server": "x", "x-ratelimit-limit-requests": "9"})
        {'retry-after': '2', 'x-ratelimit-limit-requests': '9'}
    """
    return {
        name.lower(): value for name, value in headers.items() if name.lower().startswith(_PASSED)
    }


_PASSED = ("content-type", "retry-after", "x-should-retry", "x-ratelimit-", "openai-")
