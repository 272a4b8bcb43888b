"""`POST /v1/embeddings`: passed on to the model of the config, and back as it comes."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from pydantic_core import to_json
from starlette.responses import Response

from learnloop.errors import RequestRefusedError
from learnloop.server.chat import GONE, Proxy, ProxyDep
from learnloop.server.doorkeeper import App
from learnloop.server.json_bodies import read_object
from learnloop.server.leaving import ClientGoneError, unless_gone
from learnloop.server.upstream import passed_headers

PATH = "/embeddings"

router = APIRouter()


@router.post("/v1/embeddings")
async def embed(request: Request, principal: App, proxy: ProxyDep) -> Response:
    """Turn texts into vectors; `model` is that of the config, whatever the request says.

    Raises:
        RequestRefusedError: The config names no model for it (404), or that one cannot be had.
    """
    name = proxy.services.config.server.embeddings
    if not name:
        raise RequestRefusedError(
            "no model for embeddings is configured; set `embeddings` under [server]",
            status=404,
            code="not_found",
        )
    body = await read_object(request)
    try:
        return await unless_gone(request.receive, _pass_on(proxy, name, body))
    except ClientGoneError:
        return Response(status_code=GONE)


async def _pass_on(proxy: Proxy, name: str, body: dict[str, object]) -> Response:
    upstream = await proxy.upstreams.find(name)
    content = to_json({**body, "model": upstream.address.model})
    with upstream.explained():
        async with asyncio.timeout(upstream.seconds), upstream.post(PATH, content) as response:
            return Response(
                await response.aread(),
                status_code=response.status_code,
                headers=passed_headers(response.headers),
            )
