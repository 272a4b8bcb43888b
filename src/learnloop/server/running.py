"""Runs the server in this process until it is told to stop."""

from __future__ import annotations

import signal
from types import FrameType

import uvicorn

from learnloop.server.app import create_app
from learnloop.server.config import ServerConfig
from learnloop.server.logs import log_config
from learnloop.server.services import open_services
from learnloop.settings import Settings

GRACE_SECONDS = 30
"""How long requests that are being answered may go on once the server is told to stop."""


def run(config: ServerConfig, *, settings: Settings) -> None:
    """Open what the server needs, listen, and let go of all at the end, also on SIGTERM.

    Raises:
        ConfigError: It would listen to other machines, and there is no key yet.
        StoreError: The database cannot be used.
    """
    signal.signal(signal.SIGTERM, _leave)
    with open_services(config, settings=settings) as services:
        uvicorn.run(
            create_app(config, services=services),
            host=config.server.host,
            port=config.server.port,
            log_config=log_config(config.server.log),
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process by unwinding it: uvicorn sends the signal on once it has shut down."""
    raise SystemExit(0)
