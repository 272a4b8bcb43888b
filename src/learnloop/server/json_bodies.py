"""Reads JSON that a client sent, or says in one line why it is none."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic_core import from_json

from learnloop.errors import RequestRefusedError


async def read_object(request: Request) -> dict[str, Any]:
    """Return the object of a request's body.

    Raises:
        RequestRefusedError: It is no JSON object in UTF-8 (400).
    """
    return parse_object(await request.body())


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the object that bytes hold.

    NaN, infinity, halves of surrogate pairs and very deep nesting are refused: nothing later could
    store or pass them on.

    Raises:
        RequestRefusedError: They hold none (400).

    Examples:
        >>> parse_object(b'{"id": 1}')
        {'id': 1}
        >>> parse_object(b'[1]')
        Traceback (most recent call last):
        ...
        learnloop.errors.RequestRefusedError: the body must be a JSON object, got list
    """
    content = parse_json(body)
    if not isinstance(content, dict):
        raise RequestRefusedError(
            f"the body must be a JSON object, got {type(content).__name__}",
            status=400,
            code="invalid_json",
        )
    return content


def parse_json(body: bytes) -> object:
    """Return what bytes hold as JSON, with the same refusals as `parse_object`.

    Raises:
        RequestRefusedError: They hold none (400).
    """
    try:
        content: object = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise RequestRefusedError(
            f"the body is not valid JSON in UTF-8: {error}", status=400, code="invalid_json"
        ) from error
    return content
