"""Takes in a request's body before anything looks at it: whole, in time, and not too large."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnloop.errors import RequestRefusedError
from learnloop.server.refusals import refusal

SECONDS = 30.0
DRAINED = 32 * 1024 * 1024
"""What is read on and thrown away of a body that is too large, so that the client hears why."""


class WholeBodies:
    """Refuses bodies that are too large (413) or do not come (408), also those sent in chunks.

    Args:
        app: What answers; it gets the body in one piece.
        max_bytes: The largest body.
        seconds: How long a whole body may take.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, seconds: float = SECONDS) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.seconds):
                body = await self._take(receive, announced=_announced(scope))
        except ClientDisconnect:
            return
        except TimeoutError:
            await refusal(_too_slow(self.seconds))(scope, receive, send)
            return
        except RequestRefusedError as error:
            await refusal(error)(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    async def _take(self, receive: Receive, *, announced: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in _parts(receive):
            size += len(part)
            if max(size, announced) > DRAINED:
                break
            if max(size, announced) <= self.max_bytes:
                parts.append(part)
        if max(size, announced) > self.max_bytes:
            raise RequestRefusedError(
                f"the body is larger than {self.max_bytes:,} bytes; send less, or raise "
                "max_body_bytes in the server's config",
                status=413,
                code="body_too_large",
            )
        return b"".join(parts)


async def _parts(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        more = message.get("more_body", False)
        yield message.get("body", b"")


def _announced(scope: Scope) -> int:
    """Return the length that the client announces, where it is a number."""
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand the body over in one piece, and then what comes after it: that the client left."""
    handed = False

    async def receive_again() -> Message:
        nonlocal handed
        if handed:
            return await receive()
        handed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _too_slow(seconds: float) -> RequestRefusedError:
    return RequestRefusedError(
        f"the body did not come within {seconds:g} seconds", status=408, code="body_too_slow"
    )
