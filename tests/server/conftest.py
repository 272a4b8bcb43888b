from contextlib import ExitStack

import pytest
from fastapi import APIRouter, Request
from starlette.testclient import TestClient

from learnloop.server.app import create_app
from learnloop.server.config import make_config
from learnloop.server.doorkeeper import Admin, App
from learnloop.server.json_bodies import read_object
from learnloop.server.moments import stamp, utc_now
from learnloop.server.services import open_services
from learnloop.server.storage import keys, tenants
from learnloop.settings import read_settings

probes = APIRouter(prefix="/probe")


@probes.get("/me")
async def me(principal: App):
    return {"tenant": principal.tenant, "role": principal.role}


@probes.get("/admin")
async def admin(principal: Admin):
    return {"role": principal.role}


@probes.post("/echo")
async def echo(request: Request, principal: App):
    return await read_object(request)


@probes.get("/number/{n}")
async def number(n: int):
    return {"n": n}


@probes.get("/bug")
async def bug():
    return {"n": 1 / 0}


class Running:
    """A server in this process, with keys of two tenants where asked for."""

    def __init__(self, services, client):
        self.services = services
        self.client = client

    def key(self, tenant="acme", role="app"):
        secret = keys.new_secret()
        at = stamp(utc_now())

        def make(connection):
            tenants.create(connection, tenant=tenant, at=at)
            new_id = self.services.new_id("key")
            return keys.make(
                connection, tenant=tenant, role=role, secret=secret, key_id=new_id, at=at
            )

        made = self.services.database.write(make).result(30)
        return made.id, {"authorization": f"Bearer {secret}"}


@pytest.fixture
def serve(tmp_path):
    """Start a server with a config of these words; its clock stands still."""
    with ExitStack() as stack:

        def start(**server):
            content = {"server": server, "tasks": {"sql": {"model": "scripted/static"}}}
            config = make_config(content, path=tmp_path / "learnloop.toml")
            services = stack.enter_context(open_services(config, settings=read_settings()))
            app = create_app(config, services=services)
            app.include_router(probes)
            client = TestClient(
                app, base_url="http://127.0.0.1:8321", raise_server_exceptions=False
            )
            return Running(services, stack.enter_context(client))

        yield start
