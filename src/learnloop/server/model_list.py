"""`/v1/models`: the tasks, as clients of the OpenAI API list models."""

from __future__ import annotations

from fastapi import APIRouter

from learnloop.server.asking import unknown_task
from learnloop.server.doorkeeper import App
from learnloop.server.services import ServicesDep

router = APIRouter()


@router.get("/v1/models")
async def list_models(principal: App, services: ServicesDep) -> dict[str, object]:
    """List the tasks; each is a model to ask."""
    return {"object": "list", "data": [_model(name) for name in services.config.tasks]}


@router.get("/v1/models/{name}")
async def get_model(name: str, principal: App, services: ServicesDep) -> dict[str, object]:
    """Return one task.

    Raises:
        RequestRefusedError: There is none of that name (404).
    """
    if name not in services.config.tasks:
        raise unknown_task(name, services.config.tasks)
    return _model(name)


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "learnloop"}
