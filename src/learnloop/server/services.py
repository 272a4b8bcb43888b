"""What the routes of the server work with; opened once, before the first request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from learnloop.server.config import ServerConfig
from learnloop.server.moments import Identifiers, NewId, Now, utc_now
from learnloop.server.storage.database import Database
from learnloop.server.troubles import Troubles
from learnloop.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of a running server.

    Attributes:
        now: The time, for what is stored.
        clock: Seconds, for measuring.
        new_id: Makes an id; it is handed the word that the id begins with, such as `inf`.
        troubles: What went wrong on our side while applications were answered all the same.
    """

    config: ServerConfig
    settings: Settings
    database: Database
    now: Now = utc_now
    clock: Callable[[], float] = time.perf_counter
    new_id: NewId = Identifiers()
    troubles: Troubles = field(default_factory=Troubles)


@contextmanager
def open_services(config: ServerConfig, *, settings: Settings) -> Iterator[Services]:
    """Open the database and what else a server needs; let go of all at the end.

    Raises:
        StoreError: The database cannot be used.
    """
    with Database(config.database, sync=config.server.sync) as database:
        yield Services(config=config, settings=settings, database=database)


def get_services(request: Request) -> Services:
    """Return the services of the app that a request came to."""
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(get_services)]
"""Type of a route's argument that is to be the services."""
