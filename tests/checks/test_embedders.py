import hashlib

import numpy as np
import pytest

from learnloop.checks.embedders import check_embedder
from learnloop.memory.embedders.caching import CachingEmbedder
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder


class HashingEmbedder:
    """A vector drawn from the hash of the text; `scale` other than 1 breaks the contract."""

    name = "hashing"
    dimension = 16

    def __init__(self, scale=1.0):
        self.scale = scale

    def embed(self, texts):
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            word = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
            row[:] = np.random.default_rng(word).standard_normal(self.dimension)
            row *= self.scale / np.linalg.norm(row)
        return rows


class NeighbourlyEmbedder(HashingEmbedder):
    """The vector of a text depends on what else is in the batch."""

    def embed(self, texts):
        return super().embed([f"{text}{len(texts)}" for text in texts])


class ConstantEmbedder(HashingEmbedder):
    """All texts are the same to it."""

    def embed(self, texts):
        return super().embed(["" for _ in texts])


@pytest.mark.parametrize(
    "make",
    [WordLlamaEmbedder, HashingEmbedder, lambda: CachingEmbedder(embedder=WordLlamaEmbedder())],
    ids=["wordllama", "hashing", "caching"],
)
def test_the_embedders_keep_the_contract(make):
    check_embedder(make())


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (HashingEmbedder(scale=2.0), "has length"),
        (NeighbourlyEmbedder(), "differs alone and in a batch"),
        (ConstantEmbedder(), "two different texts have the same vector"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_broken_embedder_is_found_out(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_embedder(broken)
