"""Opens the learner of each tenant and task over a memory of its own, once, and keeps it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from learnloop.errors import ConfigError, UnknownNameError
from learnloop.hosting import Hosted
from learnloop.llm.absent import AbsentModel
from learnloop.memory.memory import Memory
from learnloop.memory.opening import open_embedder
from learnloop.memory.sqlite import SQLiteStore
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.protocols import Embedder, Journal, LanguageModel
from learnloop.server.config import ServerConfig, TaskConfig
from learnloop.server.learner import Learner
from learnloop.server.models import Models
from learnloop.server.storage import inferences, learner_states, learning_calls, tenants
from learnloop.server.storage.database import Database
from learnloop.server.storage.inferences import Wanted
from learnloop.server.storage.learner_states import LearnerState
from learnloop.settings import Settings
from learnloop.types import Message, Options, Reply, Task


class Learners:
    """The learners of a server. Safe to use from several threads; opening one may take a while.

    Args:
        config: The tasks.
        settings: What the machine decides.
        database: Keeps states; memories are in the same file, each in tables of its own.
        models: Opens the models that learning calls, at the first call.
    """

    def __init__(
        self, config: ServerConfig, *, settings: Settings, database: Database, models: Models
    ) -> None:
        self.config = config
        self.settings = settings
        self.database = database
        self.models = models
        self._embedder: Embedder | None = None
        self._stores: list[SQLiteStore] = []
        self._found: dict[tuple[str, str], Learner] = {}
        self._lock = threading.Lock()

    def is_open(self, tenant: str, task: str) -> bool:
        """Say whether `find` has its answer at once."""
        return (tenant, task) in self._found

    def find(self, tenant: str, task: str) -> Learner:
        """Return the learner of a tenant and a task of the config.

        Raises:
            UnknownNameError: There is no such task.
            StoreError: What it has learnt cannot be read.
        """
        found = self._found.get((tenant, task))
        if found is not None:
            return found
        with self._lock:
            if (tenant, task) not in self._found:
                self._found[tenant, task] = self._open(tenant, task)
            return self._found[tenant, task]

    def open_known(self) -> None:
        """Open the learners of all tasks that were asked something before."""
        with self.database.read() as connection:
            known = [
                (tenant.name, task)
                for tenant in tenants.list_all(connection)
                for task in self.config.tasks
                if inferences.page(
                    connection, tenant=tenant.name, wanted=Wanted(task=task), limit=1
                ).items
            ]
        for tenant, task in known:
            self.find(tenant, task).at_rest(lambda method: None)

    def close(self) -> None:
        """Let go of the memories."""
        with self._lock:
            self._found.clear()
            for store in self._stores:
                store.close()
            self._stores.clear()

    def _open(self, tenant: str, task: str) -> Learner:
        config = self.config.tasks.get(task)
        if config is None:
            raise UnknownNameError(f"no task named {task!r}; tasks are in the config file")
        embedder = self._opened_embedder()
        store = SQLiteStore(
            self.database.path,
            embedder_name=embedder.name,
            dimension=embedder.dimension,
            scope=f"{tenant}.{task}",
            write_lock=self.database.writer.lock,
        )
        memory = Memory(store=store, embedder=embedder)
        try:
            learner = Learner(
                assemble=lambda model, journal: assemble(
                    task, config, model=model, memory=memory, journal=journal
                ),
                model=_OpenedLate(config.policy_model or config.model, self.models),
                records=_Records(self.database, tenant=tenant, task=task),
            )
        except BaseException:
            store.close()
            raise
        self._stores.append(store)
        return learner

    def _opened_embedder(self) -> Embedder:
        if self._embedder is None:
            name = self.config.server.embedder
            self._embedder = open_embedder(name, settings=self.settings)
            self._embedder.embed(["The first text takes longest."])
        return self._embedder


def assemble(
    name: str, config: TaskConfig, *, model: LanguageModel, memory: Memory, journal: Journal
) -> Hosted:
    """Put a task's method together. It has no model to answer with: the upstream does that.

    Raises:
        ConfigError: The method cannot be made so.
    """
    parts = Parts(
        task=task_of(name, config),
        model=AbsentModel(),
        policy_model=model,
        memory=memory,
        embedder=memory.embedder,
        journal=journal,
    )
    factory: Callable[..., Any] = METHODS.load(config.method).from_parts
    method: Hosted = factory(parts, **config.params)
    if not hasattr(method, "advise"):
        raise ConfigError(f"tasks.{name}.method: {config.method!r} cannot be hosted")
    return method


def task_of(name: str, config: TaskConfig) -> Task:
    """Return a task of the config as methods know one."""
    return Task(
        name=name,
        role=config.description,
        instructions=config.instructions,
        answer_format="",
        metric="reported",
        query_label=config.query_label,
        answer_label=config.answer_label,
    )


class _Records:
    """What the server's tables hold of one learner."""

    def __init__(self, database: Database, *, tenant: str, task: str) -> None:
        self._database = database
        self._tenant = tenant
        self._task = task

    def state(self) -> LearnerState | None:
        with self._database.read() as connection:
            return learner_states.get(connection, tenant=self._tenant, task=self._task)

    def calls(self) -> int:
        with self._database.read() as connection:
            return learning_calls.count(connection, tenant=self._tenant, task=self._task)

    def count_call(self) -> int:
        return self._database.write(
            lambda connection: learning_calls.add(connection, tenant=self._tenant, task=self._task)
        ).result()


class _OpenedLate:
    """A model that is opened when it is first called: learning may never need it."""

    def __init__(self, name: str, models: Models) -> None:
        self.name = name
        self._models = models

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        return self._models.open(self.name).complete(messages, options=options)
