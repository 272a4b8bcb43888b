"""Tenants: those who share a server and see nothing of each other."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from learnloop.errors import ParameterError

DEFAULT_TENANT = "default"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """One of them."""

    name: str
    created_at: str


def create(connection: sqlite3.Connection, *, tenant: str, at: str) -> bool:
    """Make a tenant where there is none of that name; say whether it is new.

    Raises:
        ParameterError: That is no name for one.
    """
    if not _NAME.fullmatch(tenant):
        raise ParameterError(
            f"a tenant is named in small letters, digits, - and _, and begins with a letter; "
            f"got {tenant!r}"
        )
    made = connection.execute("INSERT OR IGNORE INTO tenants VALUES (?, ?)", (tenant, at))
    return made.rowcount == 1


def exists(connection: sqlite3.Connection, *, tenant: str) -> bool:
    """Say whether there is a tenant of that name."""
    found = connection.execute("SELECT 1 FROM tenants WHERE name = ?", (tenant,))
    return found.fetchone() is not None


def list_all(connection: sqlite3.Connection) -> tuple[Tenant, ...]:
    """Return all tenants by name: for the machine that hosts them, never for one of them."""
    rows = connection.execute("SELECT name, created_at FROM tenants ORDER BY name")
    return tuple(Tenant(name=name, created_at=created_at) for name, created_at in rows)
