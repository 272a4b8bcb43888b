"""Independent random streams per purpose from one seed; no part shares a generator with another."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for one purpose (`order`, `sensor`, `drift`, …) of a run.

    Streams of different purposes are independent, so that for instance more noise never changes
    the order of the queries (paired seeds).

    Examples:
        >>> stream(1, "order").integers(100) == stream(1, "order").integers(100)
        np.True_
        >>> bool((stream(1, "order").random(4) == stream(1, "sensor").random(4)).any())
        False
    """
    word = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8])
    return np.random.default_rng([seed, word])
