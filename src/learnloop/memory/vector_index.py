"""Exact search over unit vectors in memory, by similarity, outcome and group; knows no text.

Every answer is exact and never varies: a fast pass on one thread finds all rows that could
be among the nearest given its rounding error, a second pass in double precision ranks those. So
equal vectors get equal similarities wherever they stand, and ties go to the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from learnloop.errors import EmbedderMismatchError, ParameterError
from learnloop.protocols import Vectors
from learnloop.types import Outcome

T = TypeVar("T", bound=np.generic)

CODES: dict[Outcome, int] = {"unknown": -1, "wrong": 0, "right": 1}
FIRST_CAPACITY = 1024
RANKED_AT_ONCE = 4096
LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A row that was found: its position, counted from 0 in order of age, and its similarity."""

    position: int
    similarity: float


class VectorIndex:
    """A growing matrix of unit vectors with an outcome and a group a row.

    Not safe for several threads at once; its store holds the lock.

    Examples:
        >>> index = VectorIndex(dimension=2)
        >>> rows = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)
        >>> index.extend(rows, verdicts=[True, False, None], groups=["a", "a", "b"])
        >>> [hit.position for hit in index.nearest(rows[1], k=2, outcome=None, group=None)]
        [1, 2]
        >>> [hit.position for hit in index.nearest(rows[1], k=2, outcome="right", group=None)]
        [0]
    """

    def __init__(self, *, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        self._rows = np.empty((FIRST_CAPACITY, dimension), dtype=np.float32)
        self._outcomes = np.empty(FIRST_CAPACITY, dtype=np.int8)
        self._groups = np.empty(FIRST_CAPACITY, dtype=np.int32)
        self._scores = np.empty(FIRST_CAPACITY, dtype=np.float32)
        self._group_codes: dict[str, int] = {}
        self._asked = b""
        self._scored = 0
        # No float32 dot product of two unit vectors is off by more than this.
        self._rounding = dimension * float(np.finfo(np.float32).eps)

    def __len__(self) -> int:
        return self._size

    def extend(
        self, vectors: Vectors, *, verdicts: Sequence[bool | None], groups: Sequence[str]
    ) -> None:
        """Append rows, oldest first."""
        start, end = self._size, self._size + len(vectors)
        self.reserve(end)
        codes = self._group_codes
        self._rows[start:end] = vectors
        self._outcomes[start:end] = [_code(verdict) for verdict in verdicts]
        self._groups[start:end] = [codes.setdefault(group, len(codes)) for group in groups]
        self._size = end

    def judge(self, position: int, verdict: bool | None) -> None:
        """Change the outcome of one row."""
        self._outcomes[position] = _code(verdict)

    def drop(self, positions: Sequence[int]) -> None:
        """Take rows out; those after them move up."""
        kept = np.delete(np.arange(self._size), positions)
        for column in (self._rows, self._outcomes, self._groups):
            column[: len(kept)] = column[kept]
            column[len(kept) : self._size] = 0
        self._size = len(kept)
        self._asked, self._scored = b"", 0

    def nearest(
        self, vector: Vectors, *, k: int, outcome: Outcome | None, group: str | None
    ) -> list[Hit]:
        """Return the k most similar rows that pass the filters, most similar first."""
        rows = self._passing(outcome, group)
        count = min(k, self._size if rows is None else len(rows))
        if count <= 0:
            return []
        scores = self._scores_of(vector)
        scores = scores if rows is None else scores[rows]
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        found = np.flatnonzero(scores >= least - 2.0 * self._rounding)
        return self._rank(found if rows is None else rows[found], vector)[:count]

    def newest(self, *, k: int, outcome: Outcome | None) -> list[int]:
        """Return the positions of the k newest rows of an outcome, oldest first."""
        if k <= 0:
            return []
        rows = self._passing(outcome, None)
        if rows is None:
            return list(range(max(0, self._size - k), self._size))
        newest: list[int] = rows[-k:].tolist()
        return newest

    def _passing(self, outcome: Outcome | None, group: str | None) -> NDArray[np.intp] | None:
        """Return the positions that pass the filters, `None` where nothing is filtered."""
        if outcome is None and group is None:
            return None
        mask = np.ones(self._size, dtype=np.bool_)
        if outcome is not None:
            mask &= self._outcomes[: self._size] == CODES[outcome]
        if group is not None:
            mask &= self._groups[: self._size] == self._group_codes.get(group, -1)
        return np.flatnonzero(mask)

    def _scores_of(self, vector: Vectors) -> Vectors:
        """Return the rough similarity of every row; only rows not yet seen are computed."""
        asked = vector.tobytes()
        if asked != self._asked:
            self._asked, self._scored = asked, 0
        if self._scored < self._size:
            new = slice(self._scored, self._size)
            # Row by row: as fast as a matrix product, and it never starts BLAS threads.
            np.vecdot(self._rows[new], vector, out=self._scores[new])
            self._scored = self._size
        return self._scores[: self._size]

    def _rank(self, positions: NDArray[np.intp], vector: Vectors) -> list[Hit]:
        """Order rows by exact similarity, ties by age."""
        wide = vector.astype(np.float64)
        parts = [
            (self._rows[positions[start : start + RANKED_AT_ONCE]] * wide).sum(axis=1)
            for start in range(0, len(positions), RANKED_AT_ONCE)
        ]
        exact = np.concatenate(parts)
        order = np.argsort(-exact, kind="stable")
        bounded = np.clip(exact, -1.0, 1.0)
        return [Hit(position=int(positions[i]), similarity=float(bounded[i])) for i in order]

    def reserve(self, size: int) -> None:
        """Make room for `size` rows in all, doubling so that appending stays cheap."""
        capacity = len(self._rows)
        if size <= capacity:
            return
        while capacity < size:
            capacity *= 2
        self._rows = _grown(self._rows, capacity, self._size)
        self._outcomes = _grown(self._outcomes, capacity, self._size)
        self._groups = _grown(self._groups, capacity, self._size)
        self._scores = _grown(self._scores, capacity, self._size)


def check_vectors(vectors: Vectors, *, dimension: int, count: int) -> Vectors:
    """Return the vectors as float32 rows, or say why they cannot be remembered or searched for.

    Raises:
        EmbedderMismatchError: They have another dimension.
        ParameterError: They are not of length 1, or not one for each episode.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape[-1] != dimension:
        raise EmbedderMismatchError(
            f"the store holds vectors of dimension {dimension}, this one has {rows.shape[-1]}; "
            "use the embedder that the store was made with, or start a new store"
        )
    if len(rows) != count:
        raise ParameterError(f"{count} episodes came with {len(rows)} vectors; give one each")
    lengths = np.linalg.norm(rows, axis=-1)
    if not np.all(np.abs(lengths - 1.0) <= LENGTH_TOLERANCE):
        raise ParameterError(
            f"vectors must be of length 1, one has length {float(np.ravel(lengths)[0])!r}; "
            "divide each by its length in the embedder"
        )
    return rows


def _code(verdict: bool | None) -> int:
    return -1 if verdict is None else int(verdict)


def _grown(old: NDArray[T], capacity: int, size: int) -> NDArray[T]:
    new = np.empty((capacity, *old.shape[1:]), dtype=old.dtype)
    new[:size] = old[:size]
    return new
