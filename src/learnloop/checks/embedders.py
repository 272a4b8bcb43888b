"""What every embedder must do, also those of plugins: call `check_embedder` on yours."""

from __future__ import annotations

import numpy as np

from learnloop.protocols import Embedder, Vectors

TEXTS = ("How many orders are there?", "orders", "?!", "\u00e4\u00f6 \U0001f600", "word " * 300)


def check_embedder(embedder: Embedder) -> None:
    """Check shape, length, order and repeatability of the vectors.

    Args:
        embedder: Any embedder. It is asked about ten times, for at most six texts each time.

    Raises:
        AssertionError: It breaks the contract; the message says where.
    """
    check_shape(embedder)
    check_unit_length(embedder)
    check_same_text_same_vector(embedder)


def check_shape(embedder: Embedder) -> None:
    """One float32 row a text, none for none."""
    assert embedder.name, "the name must not be empty: it is stored with every vector"
    assert embedder.dimension > 0, f"dimension must be above 0, got {embedder.dimension!r}"
    for count in (0, 1, len(TEXTS)):
        vectors = embedder.embed(TEXTS[:count])
        expected = (count, embedder.dimension)
        assert vectors.shape == expected, f"shape: expected {expected}, got {vectors.shape}"
        assert vectors.dtype == np.float32, f"dtype: expected float32, got {vectors.dtype}"


def check_unit_length(embedder: Embedder) -> None:
    """Every vector has length 1, so that dot products are cosines."""
    for text, vector in zip(TEXTS, embedder.embed(TEXTS), strict=True):
        length = float(np.linalg.norm(vector))
        assert abs(length - 1.0) < 1e-3, f"the vector of {text[:40]!r} has length {length!r}"


def check_same_text_same_vector(embedder: Embedder) -> None:
    """A text's vector depends on the text alone, not on its neighbours, and rows keep order."""
    together = embedder.embed([*TEXTS, TEXTS[0]])
    _same(together[0], together[-1], "twice in one batch", TEXTS[0])
    for text, vector in zip(TEXTS, together[:-1], strict=True):
        _same(vector, embedder.embed([text])[0], "alone and in a batch", text)
    other = float(together[0] @ together[1])
    assert other < 0.9999, f"two different texts have the same vector (cosine {other!r})"


def _same(one: Vectors, two: Vectors, how: str, text: str) -> None:
    cosine = float(one @ two)
    assert cosine > 0.9999, f"the vector of {text[:40]!r} differs {how}: cosine {cosine!r}"
