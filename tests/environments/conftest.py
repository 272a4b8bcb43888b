"""Walks through a stream with fixed answers, as tests of environments need it."""

import pytest

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
