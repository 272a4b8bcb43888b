"""What is round every request: its id, headers that browsers obey, one line in the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnloop.server.moments import NewId

REQUEST_ID = "x-request-id"
_GOOD_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
_LOG = logging.getLogger("learnloop.server.requests")


class Envelope:
    """Gives a request an id, its response the headers of safety, and logs both in one line.

    The id is the caller's `x-request-id` where that is a plain word. Neither query strings nor
    bodies are logged.

    Args:
        app: What answers.
        new_id: Makes ids.
        clock: Seconds.
    """

    def __init__(self, app: ASGIApp, *, new_id: NewId, clock: Callable[[], float]) -> None:
        self.app = app
        self.new_id = new_id
        self.clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if _GOOD_ID.fullmatch(given) else self.new_id("req")
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        begun, status = self.clock(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add(MutableHeaders(scope=message), request_id)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            _log(scope, status=status, seconds=self.clock() - begun)


def _add(headers: MutableHeaders, request_id: str) -> None:
    headers[REQUEST_ID] = request_id
    for name, value in _SAFE.items():
        headers.setdefault(name, value)


def _log(scope: Scope, *, status: int, seconds: float) -> None:
    principal = scope["state"].get("principal")
    fields = {
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "seconds": round(seconds, 6),
        "request_id": scope["state"]["request_id"],
        "tenant": principal.tenant if principal else None,
        "key_id": principal.key_id if principal else None,
    }
    level = logging.ERROR if status >= 500 or status == 0 else logging.INFO
    _LOG.log(level, "%s %s %d", scope["method"], scope["path"], status, extra={"fields": fields})


_SAFE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}
"""Set where the response does not say otherwise itself."""
