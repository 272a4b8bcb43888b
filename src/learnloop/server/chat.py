"""`POST /v1/chat/completions`: passes a request on with what was learnt, and its answer back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, Any

import httpx2
from fastapi import APIRouter, Depends, Request
from pydantic_core import to_json
from starlette.responses import Response

from learnloop.errors import RequestRefusedError
from learnloop.server.advising import Adviser, is_control
from learnloop.server.asking import ask, bodies_of, task_of_request, wants_usage
from learnloop.server.config import TaskConfig
from learnloop.server.doorkeeper import App
from learnloop.server.json_bodies import read_object
from learnloop.server.leaving import ClientGoneError, unless_gone
from learnloop.server.recording import Exchange, Recorder
from learnloop.server.refusals import refusal
from learnloop.server.services import Services
from learnloop.server.streaming import (
    ChunkRewriter,
    EventSplitter,
    RelayedStream,
    error_event,
    read_mapping,
    with_id,
)
from learnloop.server.upstream import Upstream, Upstreams, passed_headers

PATH = "/chat/completions"
MAYBE_OURS = frozenset({400, 413, 422, 500})
"""Statuses with which an upstream may refuse what we added; then it is asked without that."""
GONE = 499

router = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Answers chat requests by way of the upstreams."""

    services: Services
    upstreams: Upstreams
    adviser: Adviser
    recorder: Recorder

    async def answer(self, request: Request, body: Mapping[str, Any], *, tenant: str) -> Response:
        """Answer a request.

        Raises:
            RequestRefusedError: There is no such task (404).
        """
        name, task = task_of_request(body, self.services.config.tasks)
        exchange = ask(request, body, services=self.services, tenant=tenant, name=name)
        try:
            return await self._go_through(request, body, exchange, task)
        except RequestRefusedError as error:
            self.recorder.close(exchange, status="failed", error=str(error))
            self.recorder.note(exchange, "upstream", str(error))
            response = refusal(error)
            response.headers.update(exchange.headers)
            return response
        except BaseException:
            self.recorder.close(exchange, status="cancelled")
            raise

    async def _go_through(
        self, request: Request, body: Mapping[str, Any], exchange: Exchange, task: TaskConfig
    ) -> Response:
        await self._advise(request, exchange, task)
        upstream = exchange.upstream = await self.upstreams.find(task.model)
        bodies = bodies_of(body, model=upstream.address.model, block=exchange.block)
        async with AsyncExitStack() as stack:
            try:
                reply = await unless_gone(
                    request.receive, self._begin(stack, upstream, bodies, exchange)
                )
            except ClientGoneError:
                self.recorder.close(exchange, status="cancelled")
                return Response(status_code=GONE)
            if reply.content is not None:
                return self._whole(exchange, reply)
            kept = stack.pop_all()
        return self._stream(exchange, reply, kept, body)

    async def _advise(self, request: Request, exchange: Exchange, task: TaskConfig) -> None:
        if request.headers.get("learnloop", "").strip().lower() == "off":
            exchange.memory = "off"
        elif is_control(exchange.id, share=task.control_share):
            exchange.memory = "control"
        elif exchange.query.text.strip():
            await self.adviser.advise(exchange, task)

    async def _begin(
        self,
        stack: AsyncExitStack,
        upstream: Upstream,
        bodies: tuple[Mapping[str, Any], ...],
        exchange: Exchange,
    ) -> _Reply:
        """Send the body; where it is refused for what may be ours, the caller's own."""
        reply = await _send(stack, upstream, bodies[0])
        for body in bodies[1:]:
            if reply.response.status_code not in MAYBE_OURS:
                break
            why = f"the upstream answered {reply.response.status_code} to what was added"
            reply = await _send(stack, upstream, body)
            if reply.response.is_success:
                exchange.unlearnt(why)
                self.recorder.note(exchange, "upstream", why)
        return reply

    def _whole(self, exchange: Exchange, reply: _Reply) -> Response:
        """Pass an answer in one piece on; it is on its way to the record before that."""
        response, content = reply.response, reply.content or b""
        read = read_mapping(content)
        if not response.is_success:
            said = content[:300].decode("utf-8", "replace")
            error = f"the upstream answered {response.status_code}: {said}"
            self.recorder.close(exchange, status="failed", error=error)
        elif read is None or "choices" not in read:
            error = "the upstream's answer is no chat completion"
            self.recorder.close(exchange, status="failed", error=error)
            self.recorder.note(exchange, "upstream", error)
        else:
            exchange.listener.hear(read)
            content = with_id(content, read, exchange.id)
            self.recorder.close(exchange, status="answered")
        headers = passed_headers(response.headers) | exchange.headers
        return Response(content, status_code=response.status_code, headers=headers)

    def _stream(
        self,
        exchange: Exchange,
        reply: _Reply,
        stack: AsyncExitStack,
        body: Mapping[str, Any],
    ) -> Response:
        async def ended(gone: bool) -> None:
            self.recorder.close(exchange, status="cancelled" if gone else "answered")
            await stack.aclose()

        rewriter = ChunkRewriter(
            exchange.id, show_usage=wants_usage(body), hear=exchange.listener.hear
        )
        headers = passed_headers(reply.response.headers) | exchange.headers
        return RelayedStream(self._events(exchange, reply, rewriter), ended=ended, headers=headers)

    async def _events(
        self, exchange: Exchange, reply: _Reply, rewriter: ChunkRewriter
    ) -> AsyncGenerator[bytes]:
        """Give the events as they are passed on; all is on its way to the record at `[DONE]`."""
        splitter = EventSplitter()
        upstream = exchange.upstream
        assert upstream is not None
        try:
            with upstream.explained():
                async for data in reply.response.aiter_bytes():
                    for event in splitter.feed(data):
                        passed = rewriter.rewrite(event)
                        if rewriter.done:
                            self._close(exchange, rewriter.error)
                        if passed:
                            yield passed
            if splitter.rest:
                yield rewriter.rewrite(splitter.rest)
            self._close(exchange, rewriter.error)
        except RequestRefusedError as error:
            self.recorder.note(exchange, "upstream", str(error))
            self._close(exchange, str(error))
            yield error_event(str(error), code=error.code)

    def _close(self, exchange: Exchange, error: str | None) -> None:
        self.recorder.close(exchange, status="failed" if error else "answered", error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """An upstream's response; `content` is `None` where it comes as a stream."""

    response: httpx2.Response
    content: bytes | None


async def _send(stack: AsyncExitStack, upstream: Upstream, body: Mapping[str, Any]) -> _Reply:
    with upstream.explained():
        async with asyncio.timeout(upstream.seconds):
            response = await stack.enter_async_context(upstream.post(PATH, to_json(body)))
            kind = response.headers.get("content-type", "")
            if response.is_success and kind.startswith("text/event-stream"):
                return _Reply(response=response, content=None)
            return _Reply(response=response, content=await response.aread())


def get_proxy(request: Request) -> Proxy:
    """Return the proxy of the app that a request came to."""
    proxy: Proxy = request.app.state.proxy
    return proxy


ProxyDep = Annotated[Proxy, Depends(get_proxy)]


@router.post("/v1/chat/completions")
async def complete_chat(request: Request, principal: App, proxy: ProxyDep) -> Response:
    """Answer a chat request of the OpenAI format; `model` names the task."""
    body = await read_object(request)
    return await proxy.answer(request, body, tenant=principal.tenant)
