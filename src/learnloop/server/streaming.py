"""Passes a stream of server-sent events on as it comes, with the id of the inference in it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from pydantic_core import from_json, to_json
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from learnloop.server.leaving import ClientGoneError, unless_gone

_END_OF_EVENT = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_DONE = b"[DONE]"


class EventSplitter:
    r"""Cuts bytes into events, each with the blank line that ends it.

    Examples:
        >>> splitter = EventSplitter()
        >>> splitter.feed(b"data: 1"), splitter.feed(b"\n\ndata: 2\n"), splitter.rest
        ([], [b'data: 1\n\n'], b'data: 2\n')
    """

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take in bytes and return the events that are whole by now."""
        self.rest += data
        events = []
        while found := _END_OF_EVENT.search(self.rest):
            events.append(self.rest[: found.end()])
            self.rest = self.rest[found.end() :]
        return events


class ChunkRewriter:
    """Puts an id into each chunk, and takes out the usage that nobody asked for.

    Args:
        inference_id: The id.
        show_usage: Whether the caller asked for usage; `None` where the upstream was asked for no
            more than the caller wanted, so that all of it stays.
        hear: Told of each chunk.

    Attributes:
        done: Whether the upstream has said that it is at the end.
    """

    def __init__(
        self,
        inference_id: str,
        *,
        show_usage: bool | None,
        hear: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self.inference_id = inference_id
        self.show_usage = show_usage
        self.hear = hear
        self.done = False
        self.error: str | None = None

    def rewrite(self, event: bytes) -> bytes:
        """Return an event as it is passed on, `b""` where it is not; what is no chunk stays."""
        data = _data_of(event)
        self.done = self.done or data == _DONE
        content = read_mapping(data)
        if content is None:
            return event
        self.hear(content)
        if content.get("error") is not None:
            self.error = f"the upstream broke off: {json.dumps(content['error'])[:300]}"
            return event
        if "choices" not in content:
            return event
        if self.show_usage is False and "usage" in content:
            return self._without_usage(content)
        return event.replace(data, with_id(data, content, self.inference_id), 1)

    def _without_usage(self, content: Mapping[str, Any]) -> bytes:
        if content["choices"] and content["usage"] is not None:
            kept = dict(content)  # some upstreams count in the last chunk of the text itself
        elif content["choices"]:
            kept = {name: value for name, value in content.items() if name != "usage"}
        else:
            return b""
        return b"data: " + to_json(kept | {"id": self.inference_id}) + b"\n\n"


class RelayedStream(Response):
    """Sends what an iterator gives, as it comes; knows when the client hangs up.

    Args:
        events: What to send; closed at the end, however that comes.
        ended: Awaited at the end with whether the client hung up.
        headers: Of the response.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[bytes],
        *,
        ended: Callable[[bool], Awaitable[None]],
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self.events = events
        self.ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = True
        try:
            await unless_gone(receive, self._send(send))
            gone = False
        except (ClientGoneError, OSError):
            return
        finally:
            await self.events.aclose()
            await self.ended(gone)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for data in self.events:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def with_id(data: bytes, content: Mapping[str, Any], inference_id: str) -> bytes:
    """Return JSON with another id and every other byte as it was, where that can be.

    Examples:
        >>> with_id(b'{"id": "a",  "n": 1}', {"id": "a", "n": 1}, "b")
        b'{"id": "b",  "n": 1}'
    """
    wanted = {**content, "id": inference_id}
    old = content.get("id")
    if isinstance(old, str):
        pattern = rb'("id"\s*:\s*)' + re.escape(json.dumps(old).encode())
        new = json.dumps(inference_id).encode()
        changed = re.sub(pattern, lambda found: found[1] + new, data, count=1)
        if read_mapping(changed) == wanted:
            return changed
    return to_json(wanted)


def read_mapping(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object that bytes hold; `None` where they hold none."""
    try:
        content = from_json(data)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def error_event(message: str, *, code: str) -> bytes:
    """Write an error as the clients of the OpenAI API expect one within a stream."""
    error = {"message": message, "type": "server_error", "param": None, "code": code}
    return b"data: " + to_json({"error": error}) + b"\n\n"


def _data_of(event: bytes) -> bytes:
    """Return the data of an event of one data line, as chunks are; `b""` for any other."""
    lines = [line for line in event.splitlines() if line.startswith(b"data:")]
    return lines[0].removeprefix(b"data:").strip() if len(lines) == 1 else b""
