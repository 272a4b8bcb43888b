"""Finds texts that say the same: by meaning where an embedder is handed in, by words otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Turns texts into rows of length 1."""
Matrix = sparse.csr_array
LEAST_COSINE = 0.6
"""At or above it two bullets mean the same. With the default embedder, of nine pairs of rewordings
among 18 bullets it finds five, and no pair that says something else; the nearest of those, two
bullets with opposite advice on joins, has .58."""
LEAST_SHARED = 0.6
"""At or above it two bullets say the same by words: shared words over all words of the two."""
_BLOCK = 512
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sameness:
    """A way to tell texts that say the same. `words` names it for readers of a report.

    `match` gives, for each text (rows), which texts say the same (columns), itself included.
    """

    words: str
    match: Callable[[Sequence[str]], Matrix]


def by_meaning(embed: Embed, *, name: str, least: float = LEAST_COSINE) -> Sameness:
    """Return sameness by meaning: the cosine of the texts' vectors is at least `least`."""

    def match(texts: Sequence[str]) -> Matrix:
        vectors = np.asarray(embed(texts), dtype=np.float32)
        blocks = [
            sparse.csr_array(vectors[start : start + _BLOCK] @ vectors.T >= least)
            for start in range(0, len(texts), _BLOCK)
        ]
        return _reflexive(sparse.vstack(blocks, format="csr"))

    return Sameness(words=f"by meaning ({name}, cosine at least {least:g})", match=match)


def by_words(*, least: float = LEAST_SHARED) -> Sameness:
    """Return sameness by words: shared words over all words of the two are at least `least`."""

    def match(texts: Sequence[str]) -> Matrix:
        bags = [frozenset(_WORD.findall(text.lower())) for text in texts]
        known = {word: place for place, word in enumerate(sorted(frozenset().union(*bags)))}
        rows = [place for place, bag in enumerate(bags) for _ in bag]
        columns = [known[word] for bag in bags for word in sorted(bag)]
        ones = np.ones(len(rows), dtype=np.int32)
        there = sparse.csr_array((ones, (rows, columns)), shape=(len(bags), max(1, len(known))))
        shared = (there @ there.T).tocoo()
        sizes = np.array([len(bag) for bag in bags])
        either = sizes[shared.row] + sizes[shared.col] - shared.data
        kept = shared.data >= least * either
        pairs = (shared.row[kept], shared.col[kept])
        found = sparse.csr_array(
            (np.ones(int(kept.sum()), dtype=bool), pairs), shape=(len(bags), len(bags))
        )
        return _reflexive(found)

    return Sameness(words=f"by words (at least {least:g} of their words shared)", match=match)


def _reflexive(matrix: Matrix) -> Matrix:
    """Return the matrix with every text the same as itself, whatever rounding says."""
    return sparse.csr_array((matrix + sparse.eye_array(matrix.shape[0], dtype=bool)) > 0)
