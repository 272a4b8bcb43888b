"""Reads of a request what we need to know, and writes the bodies that go to the upstream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from learnloop.errors import RequestRefusedError
from learnloop.server.config import TaskConfig
from learnloop.server.learnt_block import LearntBlock, query_text, with_block
from learnloop.server.moments import stamp
from learnloop.server.recording import Exchange
from learnloop.server.services import Services
from learnloop.types import Query

GROUP = "learnloop_group"
LONGEST_WORD = 256


def task_of_request(
    body: Mapping[str, Any], tasks: Mapping[str, TaskConfig]
) -> tuple[str, TaskConfig]:
    """Return the task that a request names as its model.

    Raises:
        RequestRefusedError: There is none of that name (404).
    """
    name = body.get("model")
    if isinstance(name, str) and name in tasks:
        return name, tasks[name]
    raise unknown_task(name, tasks)


def unknown_task(name: object, tasks: Mapping[str, TaskConfig]) -> RequestRefusedError:
    """Say that there is no such task, and which there are."""
    return RequestRefusedError(
        f"no task {name!r:.100}; `model` is one of {', '.join(map(repr, tasks)) or 'none yet'}",
        status=404,
        code="model_not_found",
    )


def ask(
    request: Request, body: Mapping[str, Any], *, services: Services, tenant: str, name: str
) -> Exchange:
    """Begin an exchange: everything about it that the request says."""
    task = services.config.tasks[name]
    query = Query(
        id=services.new_id("inf"),
        text=query_text(body.get("messages")),
        group=_group(request, body),
    )
    return Exchange(
        tenant=tenant,
        task=name,
        query=query,
        user=_word(body.get("user")) or _word(body.get("safety_identifier")),
        created_at=stamp(services.now()),
        began=services.clock(),
        messages=body.get("messages") if task.keep_texts else None,
    )


def bodies_of(
    body: Mapping[str, Any], *, model: str, block: LearntBlock
) -> tuple[dict[str, Any], ...]:
    """Return the body with all that we add, and the caller's own where that is another one.

    Only the name of the model is another one there, and what was meant for us is left out.
    """
    own = {**_without_ours(body), "model": model}
    added = dict(own)
    if block.text:
        added["messages"] = with_block(body["messages"], block.text)
    if wants_usage(body) is False:
        added["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
    return (own,) if added == own else (added, own)


def wants_usage(body: Mapping[str, Any]) -> bool | None:
    """Say whether the caller of a stream asks for usage; `None` where that is left as it is."""
    options = body.get("stream_options")
    if body.get("stream") is not True or not isinstance(options, Mapping | None):
        return None
    return (options or {}).get("include_usage") is True


def _without_ours(body: Mapping[str, Any]) -> dict[str, Any]:
    metadata = body.get("metadata")
    if not isinstance(metadata, Mapping) or GROUP not in metadata:
        return dict(body)
    left = {name: value for name, value in metadata.items() if name != GROUP}
    kept = {name: value for name, value in body.items() if name != "metadata"}
    return kept | ({"metadata": left} if left else {})


def _group(request: Request, body: Mapping[str, Any]) -> str:
    metadata = body.get("metadata")
    given = metadata.get(GROUP) if isinstance(metadata, Mapping) else None
    return _word(given) or _word(request.headers.get("learnloop-group"))


def _word(value: object) -> str:
    return value[:LONGEST_WORD] if isinstance(value, str) else ""
