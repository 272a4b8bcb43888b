"""Errors as clients of the OpenAI API expect them: a status and `{"error": {...}}`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from learnloop.errors import (
    ConflictError,
    InputError,
    LearnloopError,
    RequestRefusedError,
    StoreError,
    UnknownEpisodeError,
    UnknownNameError,
)


def refusal(error: RequestRefusedError) -> JSONResponse:
    """Write a refusal as a response."""
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    return _response(error.status, str(error), code=error.code, headers=headers)


def add_error_handlers(app: FastAPI) -> None:
    """Have an app answer every error in one shape."""
    app.add_exception_handler(LearnloopError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(OverflowError, _on_unstorable)
    app.add_exception_handler(UnicodeEncodeError, _on_unstorable)
    app.add_exception_handler(Exception, _on_bug)


async def _on_ours(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestRefusedError):
        return refusal(error)
    for kind, status, code in _STATUSES:
        if isinstance(error, kind):
            return _response(status, str(error), code=code)
    return await _on_bug(request, error)


async def _on_invalid(request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else ()
    lines = [_say(problem) for problem in problems]
    return _response(400, "; ".join(lines) or "the request is not valid", code="invalid_request")


async def _on_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    headers = error.headers if isinstance(error, HTTPException) else None
    messages = {
        404: f"there is nothing at {request.url.path!r}",
        405: f"{request.url.path!r} does not take {request.method}",
    }
    message = messages.get(status, detail)
    return _response(status, message, code=_CODES.get(status, "invalid_request"), headers=headers)


async def _on_unstorable(request: Request, error: Exception) -> Response:
    return _response(
        400, "a number is too large, or a text is not valid Unicode", code="invalid_request"
    )


async def _on_bug(request: Request, error: Exception) -> Response:
    return _response(500, "the server failed; its log says why", code="server_failed")


def _response(
    status: int, message: str, *, code: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    text = message.encode("utf-8", "replace").decode("utf-8")
    content = {"message": text, "type": _type_of(status), "param": None, "code": code}
    return JSONResponse({"error": content}, status_code=status, headers=headers)


def _say(problem: Mapping[str, object]) -> str:
    location = problem.get("loc")
    parts = location if isinstance(location, tuple) else ()
    where = ".".join(str(part) for part in parts if part != "body")
    return f"{where or 'body'}: {str(problem.get('msg', '')).lower()}"


def _type_of(status: int) -> str:
    return _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")


_STATUSES: tuple[tuple[type[LearnloopError], int, str], ...] = (
    (ConflictError, 409, "conflict"),
    (UnknownEpisodeError, 404, "not_found"),
    (UnknownNameError, 404, "not_found"),
    (InputError, 400, "invalid_request"),
    (StoreError, 503, "storage_unavailable"),
)
"""The first that fits counts."""

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}

_CODES = {404: "not_found", 405: "method_not_allowed"}
