"""A server of ours and an upstream that follows a script, each a real server on loopback."""

import json
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import openai
import pytest
import uvicorn

from learnloop.errors import StoreError
from learnloop.server.app import create_app
from learnloop.server.config import make_config
from learnloop.server.services import open_services
from learnloop.server.storage import inferences, keys, tenants
from learnloop.settings import read_settings

AT = "2026-03-01T10:00:00.000Z"


class Announced(uvicorn.Server):
    def __init__(self, app):
        super().__init__(uvicorn.Config(app, log_config=None, lifespan="on"))
        self.up = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.up.set()


@contextmanager
def listening(app):
    """Serve an app from a thread; give its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = Announced(app)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        assert server.up.wait(30)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


class ScriptedUpstream:
    """Speaks the OpenAI format; keeps what it hears, and answers as `script` says.

    A script is handed the body and returns a status with bytes, or a list of pieces to stream;
    `None` among them breaks the connection off, and `hang` waits until the client is gone.
    """

    def __init__(self):
        self.heard = []
        self.headers = []
        self.script = lambda body: (200, completion("Hello"))
        self.asked, self.left = threading.Event(), threading.Event()
        self.completion, self.chunk, self.usage_chunk = completion, chunk, usage_chunk
        self.done, self.hang = DONE, HANG

    def streams(self, *pieces):
        self.script = lambda body: list(pieces)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for act in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{act}.complete"})
            return
        content, more = b"", True
        while more:
            message = await receive()
            content += message.get("body", b"")
            more = message.get("more_body", False)
        self.heard.append(json.loads(content) | {"path": scope["path"]})
        self.headers.append(dict(scope["headers"]))
        self.asked.set()
        said = self.script(self.heard[-1])
        if isinstance(said, list):
            await self._stream(said, receive, send)
        elif said is HANG:
            assert (await receive())["type"] == "http.disconnect"
            self.left.set()
        else:
            await _answer(send, *said)

    async def _stream(self, pieces, receive, send):
        await _begin(send, 200, b"text/event-stream")
        for piece in pieces:
            if piece is None:
                raise ConnectionResetError("as the script has it")
            if piece is HANG:
                assert (await receive())["type"] == "http.disconnect"
                self.left.set()
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


HANG = object()


async def _begin(send, status, kind):
    headers = [(b"content-type", kind), (b"x-ratelimit-limit-requests", b"9"), (b"server", b"x")]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _answer(send, status, content):
    await _begin(send, status, b"application/json")
    await send({"type": "http.response.body", "body": content, "more_body": False})


def completion(text, **fields):
    usage = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    message = {"role": "assistant", "content": text, **fields}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "up-1", "object": "chat.completion", "created": 7, "model": "big-2026"}
    return json.dumps({**body, "choices": [choice], "usage": usage, "odd": 1.50}).encode()


def chunk(text=None, *, reason=None, **fields):
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": reason}
    body = {"id": "up-1", "object": "chat.completion.chunk", "created": 7, "model": "big-2026"}
    return b"data: " + json.dumps({**body, "choices": [choice], **fields}).encode() + b"\n\n"


def usage_chunk():
    body = {"id": "up-1", "object": "chat.completion.chunk", "created": 7, "model": "big-2026"}
    usage = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    return b"data: " + json.dumps({**body, "choices": [], "usage": usage}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


class Running:
    """The server with a key of tenant `acme`, and the official client."""

    def __init__(self, services, app, address, secret):
        self.services, self.app, self.address = services, app, address
        self.client = openai.OpenAI(base_url=f"{address}/v1", api_key=secret, max_retries=0)
        self.others = []

    def of_tenant(self, tenant):
        """Return the same server as another tenant sees it."""
        secret = make_key(self.services, tenant)
        self.others.append(Running(self.services, self.app, self.address, secret))
        return self.others[-1]

    def close(self):
        for running in (*self.others, self):
            running.client.close()

    def chat(self, text="How many orders?", **options):
        messages = options.pop("messages", [{"role": "user", "content": text}])
        return self.client.chat.completions.create(model="sql", messages=messages, **options)

    def raw(self, text="How many orders?", **options):
        messages = options.pop("messages", [{"role": "user", "content": text}])
        raw = self.client.chat.completions.with_raw_response
        return raw.create(model="sql", messages=messages, **options)

    def feedback(self, **content):
        return self.client.post("/feedback", body=content, cast_to=dict[str, object])

    def teach(self):
        """Have one answer told right; return what it was."""
        told = self.raw("How many open orders?")
        self.feedback(target_id=told.headers["learnloop-inference-id"], correct=True)

    def settle(self):
        """Wait until what was submitted to the database is written."""
        with suppress(StoreError):
            self.services.database.write(lambda connection: None).result(30)

    def recorded(self, inference_id):
        self.settle()
        with self.services.database.read() as connection:
            return inferences.get(connection, tenant="acme", inference_id=inference_id)

    def newest(self):
        self.settle()
        with self.services.database.read() as connection:
            return inferences.page(connection, tenant="acme", limit=1).items[0]

    def troubles(self):
        return [trouble.kind for trouble in self.services.troubles.of(tenant="acme")]


@pytest.fixture
def upstream():
    scripted = ScriptedUpstream()
    with listening(scripted) as address:
        scripted.address = address
        yield scripted


@pytest.fixture
def serve(tmp_path, upstream):
    with ExitStack() as stack:

        def start(*, limits=None, server=None, **task):
            made = {
                "server": {"limits": {"advice_timeout": 30.0} | (limits or {})} | (server or {}),
                "endpoints": {"house": {"base_url": f"{upstream.address}/v1"}},
                "tasks": {"sql": {"model": "house/big", "method": "self_stream_icl"} | task},
            }
            config = make_config(made, path=tmp_path / "learnloop.toml")
            services = stack.enter_context(open_services(config, settings=read_settings()))
            secret = make_key(services, "acme")
            app = create_app(config, services=services)
            running = Running(services, app, stack.enter_context(listening(app)), secret)
            stack.callback(running.close)
            return running

        yield start


def make_key(services, tenant):
    secret = keys.new_secret()

    def make(connection):
        tenants.create(connection, tenant=tenant, at=AT)
        name = f"key_{tenant}"
        keys.make(connection, tenant=tenant, role="app", secret=secret, key_id=name, at=AT)

    services.database.write(make).result(30)
    return secret
