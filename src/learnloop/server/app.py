"""Puts the server together: routes, what is round them, and what begins and ends with it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import FastAPI

import learnloop
from learnloop.errors import ConfigError
from learnloop.server.config import ServerConfig
from learnloop.server.doorkeeper import Doorkeeper
from learnloop.server.envelope import Envelope
from learnloop.server.host import make_host
from learnloop.server.key_limits import KeyLimits, Shares
from learnloop.server.moments import stamp
from learnloop.server.refusals import add_error_handlers
from learnloop.server.services import Services
from learnloop.server.storage import keys, tenants
from learnloop.server.whole_bodies import WholeBodies

ROUTERS = (
    "learnloop.server.status_api:router",
    "learnloop.server.chat:router",
    "learnloop.server.model_list:router",
    "learnloop.server.embeddings:router",
    "learnloop.server.feedback:router",
    "learnloop.server.explanation:router",
)
"""An `APIRouter` each, in the order in which they are asked."""

RUNNING: tuple[str, ...] = ()
"""An async context manager each, handed the services, that is entered while the server runs."""

Running = Callable[[Services], AbstractAsyncContextManager[None]]

_LOG = logging.getLogger(__name__)


def create_app(config: ServerConfig, *, services: Services) -> FastAPI:
    """Return the server as an ASGI app over services that are open.

    Raises:
        ConfigError: It would listen to other machines, and there is no key yet.
    """
    doorkeeper = Doorkeeper(services.database, loopback=config.on_loopback)
    _check_keys(config, services)
    app = FastAPI(
        title="learnloop",
        version=learnloop.__version__,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.services = services
    app.state.doorkeeper = doorkeeper
    host = make_host(services)
    app.state.host, app.state.proxy, app.state.feedback_desk = host, host.proxy, host.desk
    add_error_handlers(app)
    app.add_middleware(WholeBodies, max_bytes=config.server.limits.max_body_bytes)
    app.add_middleware(
        KeyLimits,
        doorkeeper=doorkeeper,
        shares=Shares(config.server.limits, clock=services.clock),
    )
    app.add_middleware(Envelope, new_id=services.new_id, clock=services.clock)
    for target in ROUTERS:
        app.include_router(_load(target))
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    services: Services = app.state.services
    if app.state.doorkeeper.is_open():
        at = stamp(services.now())
        await services.database.written(
            lambda connection: tenants.create(connection, tenant=tenants.DEFAULT_TENANT, at=at)
        )
        _LOG.warning(
            "there is no API key yet: every program on this machine may use this server as admin "
            "of the tenant %r; `learnloop keys create` ends that",
            tenants.DEFAULT_TENANT,
        )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.state.host.running())
        for target in RUNNING:
            running: Running = _load(target)
            await stack.enter_async_context(running(services))
        yield


def _check_keys(config: ServerConfig, services: Services) -> None:
    if config.on_loopback:
        return
    with services.database.read() as connection:
        if keys.any_exist(connection):
            return
    raise ConfigError(
        f"server.host: {config.server.host!r} can be reached from other machines, and there is no "
        "API key yet; make one with `learnloop keys create --role admin`, or use '127.0.0.1'"
    )


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
