"""Whether the server can do its work now: what `/ready` says, and what the dashboard warns of."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass

from learnloop.errors import LearnloopError
from learnloop.llm.catalog import find
from learnloop.llm.endpoints import Endpoints
from learnloop.server.services import Services

PATIENCE_SECONDS = 3.0
STUCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; `detail` says what is wrong."""

    name: str
    ok: bool
    detail: str = ""


async def check_all(services: Services) -> tuple[Check, ...]:
    """Look at everything; the first is the database."""
    return (
        await _check_database(services),
        _check_writer(services),
        *(_check_task(services, name) for name in services.config.tasks),
    )


async def _check_database(services: Services) -> Check:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await services.database.written(_touch)
    except TimeoutError:
        return Check(name="database", ok=False, detail="a write takes too long")
    except LearnloopError:
        return Check(name="database", ok=False, detail="cannot be written; the log says why")
    return Check(name="database", ok=True)


def _touch(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE schema_families SET version = version WHERE family = 'server'")


def _check_writer(services: Services) -> Check:
    seconds = services.database.writer.stuck_for
    if seconds > STUCK_SECONDS:
        return Check(name="writes", ok=False, detail=f"stuck for {seconds:.0f} seconds")
    return Check(name="writes", ok=True)


def _check_task(services: Services, name: str) -> Check:
    """Say whether a task's models could be called: their keys and files are there."""
    task = services.config.tasks[name]
    for model in (task.model, task.policy_model or task.model):
        missing = _missing(services, model)
        if missing:
            return Check(name=f"task {name}", ok=False, detail=missing)
    return Check(name=f"task {name}", ok=True)


def _missing(services: Services, model: str) -> str:
    kind, _, rest = model.partition("/")
    if kind == "local":
        entry = find(rest or model)
        there = (services.settings.models / entry.file).is_file()
        return "" if there else f"the model {entry.name!r} is not on this machine"
    if model.startswith("openai/"):
        return "" if services.settings.openai_api_key else "OPENAI_API_KEY is not set"
    endpoints = Endpoints(services.config.endpoints)
    variable = endpoints.missing_key(kind) if kind in endpoints and "://" not in model else None
    return f"{variable} is not set" if variable else ""
