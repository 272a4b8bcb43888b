"""`GET /v1/inferences/{id}`: what an answer was based on, what it cost, and what was said of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict

from fastapi import APIRouter

from learnloop.errors import RequestRefusedError
from learnloop.server.doorkeeper import App
from learnloop.server.services import ServicesDep
from learnloop.server.storage import feedback_log, inferences, learner_states, prompt_versions
from learnloop.server.storage.feedback_log import LoggedFeedback
from learnloop.server.storage.inferences import Inference

SHOWN = 200

router = APIRouter()


@router.get("/v1/inferences/{inference_id}")
def explain_inference(
    inference_id: str, principal: App, services: ServicesDep
) -> dict[str, object]:
    """Explain one answer to its own tenant."""
    with services.database.read() as connection:
        return explain(connection, tenant=principal.tenant, inference_id=inference_id)


def explain(connection: sqlite3.Connection, *, tenant: str, inference_id: str) -> dict[str, object]:
    """Return all that is known of an inference, as values that JSON has.

    Raises:
        RequestRefusedError: The tenant has none of that id (404).
    """
    found = inferences.get(connection, tenant=tenant, inference_id=inference_id)
    if found is None:
        raise RequestRefusedError(
            f"no inference {inference_id!r}; give the id of the completion",
            status=404,
            code="not_found",
        )
    logged = feedback_log.of_inference(connection, tenant=tenant, inference_id=inference_id)
    return {
        **_plain(found),
        "messages": None if found.messages is None else json.loads(found.messages),
        "examples": [_retrieved(connection, tenant, each) for each in found.examples],
        "evidence": [_retrieved(connection, tenant, each) for each in found.evidence],
        "prompt": _prompt(connection, found),
        "learner": _learner(connection, found),
        "feedback": [_said(each) for each in logged],
    }


def _plain(found: Inference) -> dict[str, object]:
    """Return what stands in the record itself, but for what is looked up."""
    looked_up = {"tenant", "messages", "examples", "evidence"}
    return {name: value for name, value in asdict(found).items() if name not in looked_up}


def _retrieved(connection: sqlite3.Connection, tenant: str, episode_id: str) -> dict[str, object]:
    """Return an episode that was shown; one of a correction is of the inference corrected."""
    inference_id = episode_id.partition(":correction")[0]
    found = inferences.get(connection, tenant=tenant, inference_id=inference_id)
    content: dict[str, object] = {"id": episode_id, "inference_id": inference_id}
    if found is None:
        return {**content, "inference_id": None}
    content["query"] = found.query
    if episode_id == inference_id:
        content |= {"answer": found.answer, "correct": found.correct}
    return content


def _prompt(connection: sqlite3.Connection, found: Inference) -> dict[str, object] | None:
    if found.prompt_version is None:
        return None
    version = prompt_versions.get(
        connection, tenant=found.tenant, task=found.task, version=found.prompt_version
    )
    return {"version": found.prompt_version} if version is None else asdict(version)


def _learner(connection: sqlite3.Connection, found: Inference) -> dict[str, object] | None:
    """Return how the task's learner stands now."""
    state = learner_states.get(connection, tenant=found.tenant, task=found.task)
    if state is None:
        return None
    return {
        "version": state.version,
        "updated_at": state.updated_at,
        "gate_told": _told(state.state),
    }


def _told(state: Mapping[str, object]) -> str | None:
    """Return the end of what a gate was told, a letter each; `None` where there is no gate."""
    loop = state.get("loop")
    told = loop.get("history") if isinstance(loop, dict) else state.get("errors")
    return told[-SHOWN:] if isinstance(told, str) else None


def _said(logged: LoggedFeedback) -> dict[str, object]:
    return {
        **asdict(logged.feedback),
        "received_at": logged.received_at,
        "reflected_at": logged.reflected_at,
        "superseded_by": logged.superseded_by,
    }
