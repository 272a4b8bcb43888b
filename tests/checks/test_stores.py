import pytest

from learnloop.checks.stores import DIMENSION, EPISODE_STORE_CHECKS, check_episode_store
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.sqlite import SQLiteStore


@pytest.fixture(params=["in_memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "in_memory":
        yield InMemoryStore(embedder_name="by-hand", dimension=DIMENSION)
    else:
        path = tmp_path / "memory.db"
        with SQLiteStore(path, embedder_name="by-hand", dimension=DIMENSION) as made:
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
