"""API keys: made once, kept as a hash, found again, revoked."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from dataclasses import dataclass
from typing import Literal, get_args

from learnloop.errors import ParameterError, UnknownNameError

Role = Literal["app", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""From the one that may least; each may what those before it may."""

PREFIX = "ll_"
_RANDOM_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a request comes from."""

    tenant: str
    role: Role
    key_id: str

    def may(self, role: Role) -> bool:
        """Say whether it may do what needs a role.

        Examples:
            >>> reviewer = Principal(tenant="acme", role="reviewer", key_id="key_1")
            >>> reviewer.may("app"), reviewer.may("admin")
            (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key, which is not the key."""

    id: str
    tenant: str
    role: Role
    label: str
    created_at: str
    revoked_at: str | None


def new_secret() -> str:
    """Return a new key, which is shown once and never kept."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def make(
    connection: sqlite3.Connection,
    *,
    tenant: str,
    role: Role,
    secret: str,
    key_id: str,
    at: str,
    label: str = "",
) -> Key:
    """Keep the hash of a key for a tenant that exists."""
    row = (key_id, tenant, role, label, _hash(secret), at)
    connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
    return Key(id=key_id, tenant=tenant, role=role, label=label, created_at=at, revoked_at=None)


def find(connection: sqlite3.Connection, secret: str) -> Principal | None:
    """Return whose key that is; `None` for one that is unknown or revoked."""
    found = connection.execute(
        "SELECT tenant, role, id FROM keys WHERE sha256 = ? AND revoked_at IS NULL",
        (_hash(secret),),
    ).fetchone()
    return None if found is None else Principal(tenant=found[0], role=found[1], key_id=found[2])


def any_exist(connection: sqlite3.Connection) -> bool:
    """Say whether a key was ever made, revoked ones included."""
    return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None


def list_of(connection: sqlite3.Connection, *, tenant: str) -> tuple[Key, ...]:
    """Return the keys of a tenant, oldest first."""
    rows = connection.execute(
        "SELECT id, tenant, role, label, created_at, revoked_at FROM keys WHERE tenant = ? "
        "ORDER BY created_at, id",
        (tenant,),
    )
    names = ("id", "tenant", "role", "label", "created_at", "revoked_at")
    return tuple(Key(**dict(zip(names, row, strict=True))) for row in rows)


def revoke(connection: sqlite3.Connection, *, tenant: str, key_id: str, at: str) -> bool:
    """End a key; say whether it was in force until now.

    Raises:
        UnknownNameError: The tenant has no such key.
    """
    known = connection.execute("SELECT 1 FROM keys WHERE tenant = ? AND id = ?", (tenant, key_id))
    if known.fetchone() is None:
        raise UnknownNameError(
            f"tenant {tenant!r} has no key {key_id!r}; see `learnloop keys list`"
        )
    ended = connection.execute(
        "UPDATE keys SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at IS NULL",
        (at, tenant, key_id),
    )
    return ended.rowcount == 1


def check_role(role: str) -> Role:
    """Return a role by its name.

    Raises:
        ParameterError: There is no such role.
    """
    for known in ROLES:
        if role == known:
            return known
    raise ParameterError(f"no role {role!r}; a role is one of {', '.join(ROLES)}")


def _hash(secret: str) -> str:
    """Hash a key: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()
