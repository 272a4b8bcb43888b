"""`/health` and `/ready`: for whoever watches the process."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from starlette.responses import JSONResponse

from learnloop.server.readiness import check_all
from learnloop.server.services import ServicesDep

router = APIRouter()


@router.get("/health")
async def health() -> dict[str, str]:
    """Say that the process is up."""
    return {"status": "ok"}


@router.get("/ready")
async def ready(services: ServicesDep) -> JSONResponse:
    """Say whether the server can do its work: 200, or 503 with what is wrong."""
    checks = await check_all(services)
    good = all(check.ok for check in checks)
    content = {"ready": good, "checks": [asdict(check) for check in checks]}
    return JSONResponse(content, status_code=200 if good else 503)
