"""Walks through a stream with fixed answers; a sandbox for Python, or why there is none."""

import shutil

import pytest

from learnloop.environments.graders.python_sandbox import PythonSandbox
from learnloop.environments.graders.python_sandbox_command import INSTALL
from learnloop.settings import read_settings
from learnloop.types import Prediction


def walk_through(environment, *, seed, answer="50"):
    """Return the queries and steps of a whole stream."""
    query, walked = environment.reset(seed=seed), []
    while query is not None:
        step = environment.step(Prediction(query_id=query.id, text=answer))
        walked.append((query, step))
        query = step.query
    return walked


@pytest.fixture
def walk():
    return walk_through


@pytest.fixture
def golds():
    """The hidden answers of a stream."""
    return lambda environment, seed: [
        step.score.gold for _, step in walk_through(environment, seed=seed)
    ]


@pytest.fixture(scope="session")
def sandbox():
    if shutil.which("bwrap") is None:
        message = f"needs bubblewrap: {INSTALL}"
        if read_settings().ci:
            pytest.fail(message)
        pytest.skip(message)
    made = PythonSandbox(preload=["numpy"], patience=2)
    yield made
    made.close()
