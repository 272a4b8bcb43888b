from dataclasses import replace

import pytest

from learnloop.checks.stores import DIMENSION, EPISODE_STORE_CHECKS, check_episode_store
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.sqlite import SQLiteStore


@pytest.fixture(params=["in_memory", "sqlite", "scoped"])
def store(request, tmp_path):
    if request.param == "in_memory":
        yield InMemoryStore(embedder_name="by-hand", dimension=DIMENSION)
    else:
        path = tmp_path / "memory.db"
        scope = "acme.sql" if request.param == "scoped" else ""
        with SQLiteStore(path, embedder_name="by-hand", dimension=DIMENSION, scope=scope) as made:
            yield made


@pytest.mark.parametrize("check", EPISODE_STORE_CHECKS, ids=lambda check: check.__name__)
def test_the_stores_keep_the_contract(check, store):
    check(store)


class Forgetful(InMemoryStore):
    """Keeps all but the feedback that takes something back."""

    def add_feedback(self, episode_id, feedback):
        return feedback.supersedes is None and super().add_feedback(episode_id, feedback)


def test_a_store_that_loses_feedback_is_found_out():
    with pytest.raises(AssertionError, match="the verdict after f5: expected False, got True"):
        check_episode_store(lambda: Forgetful(embedder_name="by-hand", dimension=DIMENSION))


class NewestFirst(InMemoryStore):
    """Breaks ties the wrong way round."""

    def nearest(self, vector, **options):
        found = super().nearest(vector, **options)
        return sorted(found, key=lambda match: (-match.similarity, -int(match.episode.id[1:])))


def test_a_store_that_breaks_ties_by_youth_is_found_out():
    with pytest.raises(AssertionError, match="the order of nearest"):
        check_episode_store(lambda: NewestFirst(embedder_name="by-hand", dimension=DIMENSION))


class KeepsCorrections(InMemoryStore):
    """Adds corrections under ids by which it no longer finds them when it erases."""

    def add(self, episode, vector):
        return super().add(replace(episode, id=episode.id.replace(":correction:", "/")), vector)


def test_a_store_that_keeps_a_correction_of_what_it_erases_is_found_out():
    with pytest.raises(AssertionError, match="how many episodes were erased: expected 3, got 2"):
        check_episode_store(lambda: KeepsCorrections(embedder_name="by-hand", dimension=DIMENSION))
