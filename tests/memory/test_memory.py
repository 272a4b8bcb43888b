import numpy as np
import pytest

from learnloop.errors import UnknownEpisodeError
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.memory import Memory
from learnloop.memory.opening import open_memory
from learnloop.memory.sqlite import SQLiteStore
from learnloop.types import Episode, Feedback, Query, Source


class CountingEmbedder:
    """East for texts about orders, north for others; counts how many texts it was given."""

    name = "counting"
    dimension = 2

    def __init__(self):
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        rows = [[1, 0] if "orders" in text else [0, 1] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 2)


def memory_and_embedder():
    embedder = CountingEmbedder()
    store = InMemoryStore(embedder_name=embedder.name, dimension=2)
    return Memory(store=store, embedder=embedder), embedder


def episode(name, text):
    query = Query(id=name, text=text)
    return Episode(id=name, query=query, answer="7", step=0, source=Source(kind="model"))


def test_episodes_are_found_by_the_text_of_their_query():
    memory, _ = memory_and_embedder()
    assert memory.remember(episode("a", "all orders"))
    assert memory.remember(episode("b", "all clients"))
    assert memory.remember(episode("a", "all orders")) is False
    assert len(memory) == 2
    [match] = memory.nearest(Query(id="c", text="old orders"), k=1)
    assert match.episode == memory.get("a")
    assert match.similarity == 1.0
    assert [found.id for found in memory.recent(k=1)] == ["b"]


def test_feedback_changes_the_outcome():
    memory, _ = memory_and_embedder()
    memory.remember(episode("a", "all orders"))
    assert memory.add_feedback("a", Feedback(id="f", target_id="a", correct=True))
    assert memory.add_feedback("a", Feedback(id="f", target_id="a", correct=True)) is False
    asked = Query(id="c", text="orders")
    assert [m.episode.correct for m in memory.nearest(asked, k=1, outcome="right")] == [True]
    with pytest.raises(UnknownEpisodeError, match="no episode 'z' is remembered"):
        memory.add_feedback("z", Feedback(id="g", target_id="z"))


def test_one_step_embeds_each_text_once():
    memory, embedder = memory_and_embedder()
    query = Query(id="a", text="all orders")
    memory.nearest(query, k=2, outcome="right")
    memory.nearest(query, k=2, outcome="wrong")
    memory.remember(episode("a", "all orders"))
    assert embedder.texts == ["all orders"]


def test_each_opened_memory_is_empty_and_of_its_embedder():
    embedder = CountingEmbedder()
    open_memory(embedder).remember(episode("a", "orders"))
    assert len(open_memory(embedder)) == 0


def test_a_memory_in_a_file_lasts(tmp_path):
    embedder = CountingEmbedder()
    options = {"embedder_name": embedder.name, "dimension": embedder.dimension}
    for new in (True, False):
        with SQLiteStore(tmp_path / "folder" / "memory.db", **options) as store:
            memory = Memory(store=store, embedder=embedder)
            assert memory.remember(episode("a", "orders")) is new
            assert len(memory) == 1
