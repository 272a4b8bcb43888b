"""Vectors from a sentence-transformers model on this machine; an optional extra.

The default is the model that the DRPG paper uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from learnloop.errors import MissingExtraError
from learnloop.protocols import Vectors

INSTALL = "pip install 'learnloop[sentence-transformers]'"


class SentenceTransformersEmbedder:
    """Embeds with the pooling and the length limit that the model itself names.

    Args:
        model: Name on the Hugging Face hub, or a folder.

    Raises:
        MissingExtraError: The extra is not installed.
    """

    def __init__(self, *, model: str = "BAAI/bge-base-en-v1.5") -> None:
        try:
            package = import_module("sentence_transformers")
        except ImportError as error:
            raise MissingExtraError(
                f"the embedder {model!r} needs sentence-transformers; install it: {INSTALL}"
            ) from error
        self.model = model
        self._model = package.SentenceTransformer(model)
        self._dimension: int = self._encode(["dimension"]).shape[1]

    @property
    def name(self) -> str:
        return self.model

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts) if texts else np.empty((0, self.dimension), dtype=np.float32)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
