"""The in-memory index of a SQLite store, kept in step with the file; texts are left there."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from learnloop.memory.contents import in_force
from learnloop.memory.sqlite_rows import truth
from learnloop.memory.sqlite_schema import Tables
from learnloop.memory.sqlite_scopes import read_generation
from learnloop.memory.vector_index import Hit, VectorIndex
from learnloop.protocols import Vectors
from learnloop.types import Outcome

LOADED_AT_ONCE = 10_000


class FileIndex:
    """Finds positions in the file by vector and by age. The caller holds lock and transaction.

    Args:
        tables: Of the memory that it covers.
        dimension: Length of the vectors.
    """

    def __init__(self, *, tables: Tables, dimension: int) -> None:
        self.tables = tables
        self.dimension = dimension
        self._index = VectorIndex(dimension=dimension)
        self._positions = array("q")
        self._feedback_seen = 0
        self._generation = 0

    def __len__(self) -> int:
        return len(self._index)

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Take in what was committed since, by this process or another.

        Raises:
            StoreError: The scope was dropped.
        """
        generation = read_generation(connection, self.tables)
        if generation != self._generation:
            self._forget()
            self._generation = generation
        self._take_in_episodes(connection)
        changed = select_verdicts(connection, self.tables, since=self._feedback_seen)
        for position, correct in changed.verdicts.items():
            self._index.judge(bisect_left(self._positions, position), correct)
        self._feedback_seen = changed.newest

    def nearest(
        self, vector: Vectors, *, k: int, outcome: Outcome | None, group: str | None
    ) -> list[Hit]:
        """Return the k most similar, most similar first, by their positions in the file."""
        hits = self._index.nearest(vector, k=k, outcome=outcome, group=group)
        places = self._positions
        return [Hit(position=places[hit.position], similarity=hit.similarity) for hit in hits]

    def newest(self, *, k: int, outcome: Outcome | None) -> list[int]:
        """Return the positions in the file of the k newest, oldest first."""
        return [self._positions[row] for row in self._index.newest(k=k, outcome=outcome)]

    def _forget(self) -> None:
        self._index = VectorIndex(dimension=self.dimension)
        self._positions = array("q")
        self._feedback_seen = 0

    def _take_in_episodes(self, connection: sqlite3.Connection) -> None:
        while True:
            since = self._positions[-1] + 1 if self._positions else 0
            rows = select_vectors(connection, self.tables, since=since, dimension=self.dimension)
            if not rows.positions:
                return
            if len(rows.positions) == LOADED_AT_ONCE:
                self._index.reserve(count_positions(connection, self.tables))
            self._index.extend(rows.vectors, verdicts=rows.given, groups=rows.groups)
            self._positions.extend(rows.positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRows:
    """Episodes as the index keeps them, oldest first; `given` are verdicts without feedback."""

    positions: Sequence[int]
    vectors: Vectors
    given: Sequence[bool | None]
    groups: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdicts:
    """Verdict by position of every episode with new feedback, and the newest feedback's place."""

    verdicts: Mapping[int, bool | None]
    newest: int


def select_vectors(
    connection: sqlite3.Connection, tables: Tables, *, since: int, dimension: int
) -> NewRows:
    """Read the next episodes from one position on."""
    rows = connection.execute(
        f"SELECT position, vector, given_correct, query_group FROM {tables.episodes} "
        "WHERE position >= ? ORDER BY position LIMIT ?",
        (since, LOADED_AT_ONCE),
    ).fetchall()
    vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
    return NewRows(
        positions=[row[0] for row in rows],
        vectors=vectors.reshape(-1, dimension),
        given=[truth(row[2]) for row in rows],
        groups=[row[3] for row in rows],
    )


def count_positions(connection: sqlite3.Connection, tables: Tables) -> int:
    """Return a number of rows that holds every episode: erased ones leave gaps."""
    (newest,) = connection.execute(
        f"SELECT coalesce(max(position) + 1, 0) FROM {tables.episodes}"
    ).fetchone()
    return int(newest)


def select_verdicts(connection: sqlite3.Connection, tables: Tables, *, since: int) -> NewVerdicts:
    """Resolve anew all episodes that have feedback after one place."""
    (newest,) = connection.execute(
        f"SELECT coalesce(max(position), 0) FROM {tables.feedback}"
    ).fetchone()
    if newest == since:
        return NewVerdicts(verdicts={}, newest=newest)
    rows = connection.execute(
        f"SELECT e.position, e.given_correct, f.id, f.correct, f.supersedes "
        f"FROM {tables.feedback} AS f JOIN {tables.episodes} AS e ON e.id = f.episode_id "
        f"WHERE f.episode_id IN (SELECT episode_id FROM {tables.feedback} WHERE position > ?) "
        "ORDER BY e.position, f.position",
        (since,),
    )
    verdicts: dict[int, bool | None] = {}
    for position, group in groupby(rows, key=lambda row: row[0]):
        said = list(group)
        feedback = [_Said(row[2], truth(row[3]), row[4]) for row in said]
        verdicts[position] = in_force(truth(said[0][1]), feedback)
    return NewVerdicts(verdicts=verdicts, newest=newest)


@dataclass(frozen=True, slots=True)
class _Said:
    id: str
    correct: bool | None
    supersedes: str | None
