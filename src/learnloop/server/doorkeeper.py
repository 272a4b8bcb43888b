"""Who a request comes from: by its key, or, on a machine of one's own without keys, the user."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.datastructures import Headers

from learnloop.errors import RequestRefusedError, StoreError
from learnloop.server.config import is_loopback
from learnloop.server.storage import keys
from learnloop.server.storage.database import Database
from learnloop.server.storage.keys import Principal, Role
from learnloop.server.storage.tenants import DEFAULT_TENANT

MOST_REMEMBERED = 10_000

_LOG = logging.getLogger(__name__)


class Doorkeeper:
    """Finds the principal of a request. Keys that were good stay so while the database is away.

    Args:
        database: Where keys are kept.
        loopback: Whether only this machine can reach the server; then no key is needed until the
            first one is made.
    """

    def __init__(self, database: Database, *, loopback: bool) -> None:
        self.database = database
        self.loopback = loopback
        self._seen: dict[str, Principal] = {}
        self._open = False

    def is_open(self) -> bool:
        """Say whether requests need no key."""
        if not self.loopback:
            return False
        try:
            with self.database.read() as connection:
                self._open = not keys.any_exist(connection)
        except StoreError:
            _LOG.warning("the database cannot be read; whether keys are needed stays as it was")
        return self._open

    def find(self, secret: str) -> Principal | None:
        """Return whose key that is.

        Raises:
            StoreError: The database cannot be read, and the key was not seen before.
        """
        digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
        try:
            with self.database.read() as connection:
                found = keys.find(connection, secret)
        except StoreError:
            if digest not in self._seen:
                raise
            _LOG.warning("the database cannot be read; a key is taken as it was last found")
            return self._seen[digest]
        self._remember(digest, found)
        return found

    def identify(self, headers: Headers) -> Principal | None:
        """Return who sends a request with these headers; `None` for nobody known.

        Raises:
            RequestRefusedError: A page of another site sends it to a server that needs no key.
            StoreError: The database cannot be read, and the key was not seen before.
        """
        secret = bearer(headers)
        found = None if secret is None else self.find(secret)
        if found is not None or not self.is_open():
            return found
        _check_own_page(headers)
        return Principal(tenant=DEFAULT_TENANT, role="admin", key_id="")

    def _remember(self, digest: str, found: Principal | None) -> None:
        if found is None:
            self._seen.pop(digest, None)
        elif digest in self._seen or len(self._seen) < MOST_REMEMBERED:
            self._seen[digest] = found


def bearer(headers: Headers) -> str | None:
    """Return the key that a request brings.

    Examples:
        >>> bearer(Headers({"authorization": "Bearer ll_key"}))
        'll_key'
    """
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() or None if scheme.lower() == "bearer" else None


def get_principal(request: Request) -> Principal:
    """Return who sends a request.

    Raises:
        RequestRefusedError: Nobody known (401).
    """
    principal: Principal | None = getattr(request.state, "principal", None)
    if principal is None:
        raise RequestRefusedError(
            "this server needs an API key; send it as `Authorization: Bearer ll_...`, "
            "and make one with `learnloop keys create`",
            status=401,
            code="invalid_api_key",
        )
    return principal


def needs(role: Role) -> Callable[[Request], Awaitable[Principal]]:
    """Make a dependency that lets a role pass, and those who may more."""

    async def check(request: Request) -> Principal:
        principal = get_principal(request)
        if not principal.may(role):
            raise RequestRefusedError(
                f"this needs a key of the role {role!r}, and yours is {principal.role!r}",
                status=403,
                code="role_missing",
            )
        return principal

    return check


App = Annotated[Principal, Depends(needs("app"))]
Reviewer = Annotated[Principal, Depends(needs("reviewer"))]
Admin = Annotated[Principal, Depends(needs("admin"))]
"""Types of a route's argument that is to be the principal, and may at least that."""


def _check_own_page(headers: Headers) -> None:
    """Refuse what a browser sends for a page of another site: it can reach this machine too."""
    host = _host_of(f"//{headers.get('host', '')}")
    origin = headers.get("origin")
    if not is_loopback(host) or (origin is not None and not _same(origin, headers)):
        raise RequestRefusedError(
            "a server without keys answers this machine alone, under its own name and not to "
            "pages of other sites; make a key with `learnloop keys create`",
            status=403,
            code="foreign_origin",
        )


def _same(origin: str, headers: Headers) -> bool:
    return origin.partition("://")[2] == headers.get("host")


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
