"""`learnloop keys`: API keys of a server's database: make, list, revoke."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.server.config import read_config
from learnloop.server.moments import Identifiers, stamp, utc_now
from learnloop.server.storage import audit, keys, tenants
from learnloop.server.storage.audit import AuditEntry
from learnloop.server.storage.database import Database
from learnloop.server.storage.keys import Key, Role

CONFIG = typer.Option("--config", help="Config file of the server, which may be running.")
TENANT = typer.Option("--tenant", help="Whose keys.")
JSON = typer.Option("--json", help="Print JSON.")
BY = "command"

app = typer.Typer(help="API keys of a server: create, list, revoke.", no_args_is_help=True)


@app.command("create")
def create_key(
    tenant: Annotated[str, TENANT] = tenants.DEFAULT_TENANT,
    role: Annotated[str, typer.Option("--role", help="app, reviewer or admin.")] = "app",
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "",
    config: Annotated[Path, CONFIG] = Path("learnloop.toml"),
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Make a key and print it: once, for only its hash is kept. A new tenant is made with it.

    An app asks and gives feedback; a reviewer also sees the dashboard and judges; an admin also
    changes prompts, exports and erases.

    Examples: learnloop keys create; learnloop keys create --tenant acme --role admin
    """
    chosen, secret = keys.check_role(role), keys.new_secret()
    with _opened(config) as database:
        key = database.write(
            lambda connection: _create(
                connection, tenant=tenant, role=chosen, secret=secret, label=label
            )
        ).result()
    if as_json:
        typer.echo(json.dumps({**asdict(key), "key": secret}))
        return
    typer.echo(f"{key.role} key {key.id} of tenant {tenant!r}; it is shown only now:", err=True)
    typer.echo(secret)


@app.command("list")
def list_keys(
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only its keys.")] = None,
    config: Annotated[Path, CONFIG] = Path("learnloop.toml"),
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List keys, without the keys themselves.

    Example: learnloop keys list --tenant acme
    """
    with _opened(config) as database, database.read() as connection:
        names = [tenant] if tenant else [each.name for each in tenants.list_all(connection)]
        found = [key for name in names for key in keys.list_of(connection, tenant=name)]
    if as_json:
        typer.echo(json.dumps([asdict(key) for key in found]))
        return
    _show(found)


@app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `keys list` shows it.")],
    tenant: Annotated[str, TENANT] = tenants.DEFAULT_TENANT,
    config: Annotated[Path, CONFIG] = Path("learnloop.toml"),
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """End a key at once, also in a server that is running.

    Example: learnloop keys revoke key_019cab --tenant acme
    """
    with _opened(config) as database:
        ended = database.write(
            lambda connection: _revoke(connection, tenant=tenant, key_id=key_id)
        ).result()
    if as_json:
        typer.echo(json.dumps({"id": key_id, "revoked": ended}))
        return
    typer.echo(f"{key_id} is revoked" if ended else f"{key_id} was revoked before")


@contextmanager
def _opened(config: Path) -> Iterator[Database]:
    with Database(read_config(config).database) as database:
        yield database


def _create(
    connection: sqlite3.Connection, *, tenant: str, role: Role, secret: str, label: str
) -> Key:
    at, key_id = stamp(utc_now()), Identifiers()("key")
    tenants.create(connection, tenant=tenant, at=at)
    key = keys.make(
        connection, tenant=tenant, role=role, secret=secret, key_id=key_id, at=at, label=label
    )
    entry = AuditEntry(at=at, actor=BY, action="key created", target=key_id, detail=role)
    audit.record(connection, tenant=tenant, entry=entry)
    return key


def _revoke(connection: sqlite3.Connection, *, tenant: str, key_id: str) -> bool:
    at = stamp(utc_now())
    ended = keys.revoke(connection, tenant=tenant, key_id=key_id, at=at)
    if ended:
        entry = AuditEntry(at=at, actor=BY, action="key revoked", target=key_id)
        audit.record(connection, tenant=tenant, entry=entry)
    return ended


def _show(found: list[Key]) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("id", "tenant", "role", "label", "made", "revoked"):
        table.add_column(title, overflow="fold", no_wrap=title == "id")
    for key in found:
        table.add_row(key.id, key.tenant, key.role, key.label, key.created_at, key.revoked_at or "")
    Console().print(table, markup=False)
