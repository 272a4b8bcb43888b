import threading
from datetime import UTC, datetime

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from learnloop.llm.scripted import Scripted
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.server import explanation, feedback
from learnloop.server.config import make_config
from learnloop.server.feedback import FeedbackDesk
from learnloop.server.learning import LearningWorker
from learnloop.server.refusals import add_error_handlers
from learnloop.server.services import Services
from learnloop.server.storage import inferences, learner_states, tenants
from learnloop.server.storage.database import Database
from learnloop.server.storage.inferences import Inference
from learnloop.server.storage.keys import Principal
from learnloop.settings import read_settings
from learnloop.types import Task

AT = "2026-03-01T10:00:00.000Z"
TASK = Task(name="sql", role="", instructions="", answer_format="", metric="reported")


class Events(list):
    def record(self, event):
        self.append(event)

    def decided(self, error, decision):
        pass


class ScriptedLearner:
    """A method of the bench over a memory in this process and a scripted policy model."""

    def __init__(self, make, stored):
        self._make = make
        self._stored = stored
        self._lock = threading.RLock()
        self.model, self.events, self.memory, self.method = make()
        self.version = 0
        self.landed = threading.Event()
        self.reload()

    @property
    def calls(self):
        return self.model.calls

    def remember_one(self, query, prediction, feedback):
        with self._lock:
            return self.method.remember_one(query, prediction, feedback)

    def reflect_one(self, episode, prediction):
        self.method.reflect_one(episode, prediction)

    def at_rest(self, do):
        with self._lock:
            return do(self.method)

    def drain(self):
        events = tuple(self.events)
        self.events.clear()
        return events

    def saved(self, version):
        self.version = version
        self.landed.set()

    def reload(self):
        _, self.events, _, self.method = self._make(self.model, self.memory)
        stored = self._stored()
        self.version = 0 if stored is None else stored.version
        if stored is not None:
            self.method.restore(stored.state)


class School:
    """Two tenants with inferences, their learners, the desk, the worker, and a client of each."""

    def __init__(self, database, embedder, *, script, **task):
        self.database, self.embedder = database, embedder
        self.script = script
        self.time = 0.0
        self.config = make_config({"tasks": {"sql": {"model": "scripted/static", **task}}})
        self.learners = {}
        self.numbers = iter(range(10**6))
        for tenant in ("acme", "beta"):
            self.do(tenants.create, tenant=tenant, at=AT)
        self.start()

    def start(self):
        """Begin a process: nothing is known but what the database and the memories hold."""
        memories = {key: learner.memory for key, learner in self.learners.items()}
        self.memories, self.learners = memories, {}
        shared = {
            "config": self.config,
            "database": self.database,
            "learner_of": self.learner_of,
            "now": lambda: datetime(2026, 3, 1, 10, tzinfo=UTC),
            "new_id": lambda kind: f"{kind}_{next(self.numbers)}",
        }
        self.worker = LearningWorker(clock=lambda: self.time, **shared)
        self.desk = FeedbackDesk(wake=self.worker.wake, **shared)

    def learner_of(self, tenant, task):
        key = (tenant, task)
        if key not in self.learners:
            self.learners[key] = ScriptedLearner(
                lambda *known: self.make(key, *known),
                lambda: self.see(learner_states.get, tenant=tenant, task=task),
            )
        return self.learners[key]

    def make(self, key, model=None, memory=None):
        model = model or Scripted(self.script)
        if memory is None:
            memory = self.memories.get(key) or open_memory(self.embedder)
        task, events = self.config.tasks["sql"], Events()
        parts = Parts(
            task=TASK,
            model=model,
            policy_model=model,
            memory=memory,
            embedder=self.embedder,
            journal=events,
        )
        return model, events, memory, METHODS.load(task.method).from_parts(parts, **task.params)

    def do(self, write, **arguments):
        return self.database.write(lambda connection: write(connection, **arguments)).result(30)

    def see(self, read, **arguments):
        with self.database.read() as connection:
            return read(connection, **arguments)

    def infer(self, inference_id, *, tenant="acme", query="How many?", answer="7", **fields):
        made = Inference(
            id=inference_id,
            tenant=tenant,
            task="sql",
            created_at=AT,
            query=query,
            answer=answer,
            **fields,
        )
        self.do(inferences.insert, tenant=tenant, inference=made)

    def client(self, tenant="acme"):
        app = FastAPI()
        add_error_handlers(app)
        app.state.feedback_desk = self.desk
        app.state.services = Services(
            config=self.config, settings=read_settings(), database=self.database
        )
        for module in (feedback, explanation):
            app.include_router(module.router)
        return TestClient(_Known(app, tenant), raise_server_exceptions=False)

    def give(self, content, *, tenant="acme", **how):
        return self.client(tenant).post("/v1/feedback", json=content, **how)

    def learn(self):
        """Have the worker do all that it can; return in how many steps."""
        steps = 0
        while self.worker.step():
            steps += 1
        return steps


class _Known:
    """Says who sends a request, as the key would."""

    def __init__(self, app, tenant):
        self.app = app
        self.principal = Principal(tenant=tenant, role="app", key_id="key_1")

    async def __call__(self, scope, receive, send):
        scope.setdefault("state", {})["principal"] = self.principal
        await self.app(scope, receive, send)


@pytest.fixture
def database(tmp_path):
    with Database(tmp_path / "server.sqlite") as opened:
        yield opened


@pytest.fixture
def make_school(database, embedder):
    def make(*, script=lambda messages, options: "Report money in euros.", **words):
        return School(database, embedder, script=script, **words)

    return make


@pytest.fixture
def school(make_school):
    return make_school()


@pytest.fixture(scope="session")
def make_any_school():
    def make(database, embedder):
        return School(database, embedder, script=lambda messages, options: "Say euros.")

    return make
