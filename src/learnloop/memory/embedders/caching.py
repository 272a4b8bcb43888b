"""An embedder that remembers recent texts, so that one step embeds each text once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from learnloop.protocols import Embedder, Vectors


class CachingEmbedder:
    """Wraps an embedder and keeps the vectors of the last `size` texts."""

    def __init__(self, *, embedder: Embedder, size: int = 256) -> None:
        self.embedder = embedder
        self.size = size
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found.update(zip(new, self.embedder.embed(new), strict=True))
        self._keep(found)
        rows = [found[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def _keep(self, vectors: dict[str, Vectors]) -> None:
        with self._lock:
            for text, vector in vectors.items():
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
            while len(self._vectors) > self.size:
                self._vectors.popitem(last=False)
