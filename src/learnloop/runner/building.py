"""Puts a run's parts together from its spec: environment, sensor, method, memory, model, ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from learnloop.control.sensors import NoisySensor, PartialSensor, flip, parse_feedback
from learnloop.environments import ENVIRONMENTS
from learnloop.errors import ParameterError
from learnloop.llm.cached import Cached
from learnloop.llm.metered import Ledger, Metered
from learnloop.memory.memory import Memory
from learnloop.memory.sqlite import SQLiteStore
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.params import check_params
from learnloop.protocols import Embedder, Environment, Journal, LanguageModel, Method, Sensor
from learnloop.records.schema import RunInfo
from learnloop.runner.first_contact import FirstContact
from learnloop.runner.origin import machine, packages
from learnloop.runner.privileges import (
    answer_key,
    check_privileges,
    demonstrations,
    method_notes,
    silence_notes,
)
from learnloop.runner.resources import Resources
from learnloop.runner.spec import RunSpec
from learnloop.seeding import stream

MEMORY_FILE = "memory.sqlite"
KNOWN_GOOD = 1024
"""How many methods with their parameters are remembered as checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A spec that is known to be good, with all that it needs open. Nothing is written yet.

    The models are bare: without cache and ledger. `length` is how many steps the run
    will have.
    """

    spec: RunSpec
    environment: Environment
    embedder: Embedder
    model: LanguageModel
    policy_model: LanguageModel
    ledger: Ledger
    length: int
    model_sha256: str | None = None
    agents: tuple[LanguageModel, ...] = ()


def normalise(spec: RunSpec) -> RunSpec:
    """Return the spec with the names of its method and environment as they are registered.

    Raises:
        UnknownNameError: There is no such method or environment.
    """
    names = {
        "method": METHODS.resolve(spec.method),
        "environment": ENVIRONMENTS.resolve(spec.environment),
    }
    return spec.model_copy(update=names)


def prepare(spec: RunSpec, resources: Resources, *, ledger: Ledger | None = None) -> Prepared:
    """Check a spec and open what it needs, what takes longest last.

    Runs that are made one after the other may share a ledger.

    Raises:
        InputError: A name, a parameter, the feedback, the number of steps, or a model is not good.
        LanguageModelError: A model cannot be reached.
    """
    environment = check_spec(spec)
    ledger = Ledger() if ledger is None else ledger
    return Prepared(
        spec=spec,
        environment=environment,
        embedder=resources.embedder(spec.embedder, ledger),
        model_sha256=resources.model_sha256(spec.model),
        model=resources.model(spec.model),
        policy_model=resources.model(spec.policy_model or spec.model),
        ledger=ledger,
        length=spec.steps or len(environment),
        agents=tuple(resources.model(name) for name in spec.agents),
    )


def check_spec(spec: RunSpec, *, environment: Environment | None = None) -> Environment:
    """Check all of a spec that needs no model, and return its environment, opened or as given.

    Raises:
        InputError: A name, a parameter, the feedback or the number of steps is not good.
    """
    check_words(spec)
    environment = open_environment(spec) if environment is None else environment
    check_privileges(spec, environment)
    length = len(environment)
    if spec.steps is not None and spec.steps > length:
        raise ParameterError(
            f"steps: {spec.steps} asked for, but {spec.environment} has {length} queries with "
            "these settings"
        )
    return environment


def check_words(spec: RunSpec) -> None:
    """Check of a spec what can be checked without its environment.

    Raises:
        InputError: A name, a parameter or the feedback is not good.
    """
    _check_method(spec.method, json.dumps(spec.method_params))
    parse_feedback(spec.feedback)
    _check_environment(spec.environment, json.dumps(spec.environment_params))


@contextmanager
def build_method(
    prepared: Prepared, *, directory: Path, responses: Path, journal: Journal
) -> Iterator[Method]:
    """Put the method together over an empty memory in the directory; let go of it at the end."""
    embedder = prepared.embedder
    remove_memory(directory)
    with ExitStack() as stack:
        model = stack.enter_context(_watched(prepared.model, prepared, responses))
        writer = model
        if prepared.policy_model is not prepared.model:
            writer = stack.enter_context(_watched(prepared.policy_model, prepared, responses))
        agents = [
            stack.enter_context(_watched(each, prepared, responses)) for each in prepared.agents
        ]
        store = SQLiteStore(
            directory / MEMORY_FILE,
            embedder_name=embedder.name,
            dimension=embedder.dimension,
        )
        memory = Memory(store=stack.enter_context(store), embedder=embedder)
        yield put_together(
            prepared,
            model=model,
            policy_model=writer,
            agents=agents,
            memory=memory,
            journal=journal,
        )


def put_together(
    prepared: Prepared,
    *,
    model: LanguageModel,
    policy_model: LanguageModel,
    agents: Sequence[LanguageModel] = (),
    memory: Memory,
    journal: Journal,
) -> Method:
    """Make the method of parts that are open."""
    spec, environment = prepared.spec, prepared.environment
    method = METHODS.load(spec.method)
    environment.reset(seed=spec.seed)  # the first prompt of a task may depend on the seed
    parts = Parts(
        task=environment.task,
        model=model,
        policy_model=policy_model,
        memory=memory,
        embedder=prepared.embedder,
        journal=journal,
        seed=spec.seed,
        agents=tuple(agents),
        demonstrations=demonstrations(environment),
        answer_key=answer_key(method, environment),
    )
    made: Method = method.from_parts(parts, **spec.method_params)
    return made


def build_sensor(spec: RunSpec, environment: Environment) -> Sensor:
    """Return the sensor for a run's feedback, with random streams of its own.

    An environment that has messages of its own says what a wrong one is (`distort`); of another
    one, right is called wrong and wrong right.
    """
    mix = parse_feedback(spec.feedback)
    sensor = PartialSensor(
        correct=mix.correct,
        comment=mix.comment,
        correction=mix.correction,
        rng=stream(spec.seed, "sensor"),
    )
    if not mix.noise:
        return sensor
    return NoisySensor(
        rate=mix.noise,
        distort=getattr(environment, "distort", flip),
        then=sensor,
        rng=stream(spec.seed, "noise"),
    )


def run_info(prepared: Prepared) -> RunInfo:
    """Return what `run.json` says of a run that begins."""
    spec, task = prepared.spec, prepared.environment.task
    return RunInfo(
        run_id=spec.run_id,
        spec=spec.model_dump(),
        spec_hash=spec.hash,
        environment_id=prepared.environment.id,
        task=task.name,
        metric=task.metric,
        method=spec.method,
        model=prepared.model.name,
        model_sha256=prepared.model_sha256,
        packages=packages(),
        machine=machine(),
        note=_note(prepared),
    )


def _note(prepared: Prepared) -> str:
    """Return what readers of the results must know of the environment's rows and the method."""
    rows = getattr(prepared.environment, "note", "")
    method = METHODS.load(prepared.spec.method)
    notes = [rows, *method_notes(method), *silence_notes(prepared.spec)]
    return "; ".join(filter(None, notes))


def open_environment(spec: RunSpec) -> Environment:
    """Make the environment of a spec whose words are checked."""
    factory = ENVIRONMENTS.load(spec.environment)
    return cast(Environment, factory(**spec.environment_params))


@lru_cache(maxsize=KNOWN_GOOD)
def _check_method(name: str, params: str) -> None:
    """Check parameters, as JSON, once for all seeds."""
    check_params(f"method {name}", METHODS.load(name).from_parts, json.loads(params), given=1)


@lru_cache(maxsize=KNOWN_GOOD)
def _check_environment(name: str, params: str) -> None:
    check_params(f"environment {name}", ENVIRONMENTS.load(name), json.loads(params))


@contextmanager
def _watched(model: LanguageModel, prepared: Prepared, responses: Path) -> Iterator[LanguageModel]:
    """Put a model behind the cache of responses and the run's ledger."""
    cached = Cached(FirstContact(model), responses, failure_scope=prepared.spec.run_id)
    with closing(cached):
        yield Metered(cached, prepared.ledger)


def remove_memory(directory: Path) -> None:
    """Forget what a run in the directory remembers: it begins again with nothing."""
    remove_database(directory / MEMORY_FILE)


def remove_database(path: Path) -> None:
    """Remove a SQLite file with all that goes with it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
