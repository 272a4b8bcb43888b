import numpy as np

from learnloop.memory.embedders.caching import CachingEmbedder


class CountingEmbedder:
    """The vector of a number counts its texts on one axis."""

    name = "counting"
    dimension = 3

    def __init__(self):
        self.calls = []

    def embed(self, texts):
        self.calls.append(list(texts))
        return np.eye(3, dtype=np.float32)[[int(text) for text in texts]]


def test_each_text_is_embedded_once_and_rows_keep_their_order():
    inner = CountingEmbedder()
    embedder = CachingEmbedder(embedder=inner)
    assert embedder.embed(["2", "0", "2"]).argmax(axis=1).tolist() == [2, 0, 2]
    assert embedder.embed(["1", "0"]).argmax(axis=1).tolist() == [1, 0]
    assert inner.calls == [["2", "0"], ["1"]]


def test_only_the_last_texts_are_kept():
    inner = CountingEmbedder()
    embedder = CachingEmbedder(embedder=inner, size=2)
    for text in ["0", "1", "0", "2", "0", "1"]:
        embedder.embed([text])
    assert inner.calls == [["0"], ["1"], ["2"], ["1"]]


def test_a_batch_larger_than_the_cache_is_whole():
    embedder = CachingEmbedder(embedder=CountingEmbedder(), size=1)
    assert embedder.embed(["0", "1", "2"]).argmax(axis=1).tolist() == [0, 1, 2]
    assert embedder.embed([]).shape == (0, 3)


def test_changing_a_result_does_not_change_the_cache():
    embedder = CachingEmbedder(embedder=CountingEmbedder())
    embedder.embed(["0"])[:] = 9.0
    assert embedder.embed(["0"]).tolist() == [[1.0, 0.0, 0.0]]
