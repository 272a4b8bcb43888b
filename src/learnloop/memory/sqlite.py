"""Episodes in one SQLite file: append-only, safe to kill at any point, searched in memory.

The file holds everything; the process keeps the vectors and outcomes of all episodes beside it
and fetches texts by position. Another process may read and write the same file between calls.
A file may hold many scopes, each with tables of its own.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from learnloop.errors import EmbedderMismatchError
from learnloop.memory.contents import (
    Kept,
    check_content,
    check_target,
    content_hash,
    distinct,
    unknown_episode,
)
from learnloop.memory.sqlite_catch_up import FileIndex
from learnloop.memory.sqlite_connection import connect, empty_log, transaction
from learnloop.memory.sqlite_erasing import erase_episodes
from learnloop.memory.sqlite_rows import (
    insert_episode,
    insert_feedback,
    select_episodes,
    select_hash,
    select_page,
    select_position,
    select_target,
)
from learnloop.memory.sqlite_schema import Tables
from learnloop.memory.sqlite_scopes import (
    EmbedderKey,
    check_scope,
    open_tables,
    read_generation,
)
from learnloop.memory.vector_index import check_vectors
from learnloop.protocols import Vectors
from learnloop.types import Episode, Feedback, Match, Outcome

STALE = -1


class SQLiteStore:
    """Remembers episodes in a file. Safe to call from several threads.

    Args:
        path: The database file; it is made, with its folder, where there is none.
        embedder_name: Name of the embedder that the vectors come from.
        dimension: Length of its vectors.
        scope: Whose memory it is, where a file holds several: 1 to 200 characters, none of them a
            control character. `""` is the one memory of a file that has no scopes.
        write_lock: Held during each write. Where many threads of a process write one file through
            several stores, give all of them the same: they wait in turn, where SQLite would have
            them try again and again until some give up.

    Raises:
        ParameterError: That cannot be a scope.
        EmbedderMismatchError: The file was made with another embedder or dimension.
        StoreLockedError: Another process holds the file.
        StoreError: The file cannot be read or written.

    Examples:
        >>> import tempfile
        >>> from learnloop.types import Query, Source
        >>> path = Path(tempfile.mkdtemp()) / "memory.db"
        >>> query = Query(id="q1", text="How many orders?")
        >>> episode = Episode(
        ...     id="e1", query=query, answer="7", step=1, source=Source(kind="model")
        ... )
        >>> with SQLiteStore(path, embedder_name="by-hand", dimension=2) as store:
        ...     store.add(episode, np.array([1, 0], dtype=np.float32))
        True
        >>> with SQLiteStore(path, embedder_name="by-hand", dimension=2) as store:
        ...     store.recent(k=1)[0].answer
        '7'
    """

    def __init__(
        self,
        path: Path | str,
        *,
        embedder_name: str,
        dimension: int,
        scope: str = "",
        write_lock: threading.Lock | None = None,
    ) -> None:
        self.path = Path(path)
        self.embedder_name = embedder_name
        self.dimension = dimension
        self.scope = check_scope(scope) if scope else ""
        self.write_lock = write_lock or threading.Lock()
        self._lock = threading.RLock()
        self._data_version = STALE
        self._connection = connect(self.path)
        try:
            self._tables = self._open_tables()
            self._index = FileIndex(tables=self._tables, dimension=dimension)
            len(self)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. The store cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    def __len__(self) -> int:
        with self._reading():
            return len(self._index)

    def add(self, episode: Episode, vector: Vectors) -> bool:
        return self.add_many((episode,), vector[np.newaxis]) == 1

    def add_many(self, episodes: Sequence[Episode], vectors: Vectors) -> int:
        """Remember several in one transaction, all or none, and return how many were new."""
        rows = check_vectors(vectors, dimension=self.dimension, count=len(episodes))
        with self._writing():
            return sum(
                self._insert(episode, row) for episode, row in zip(episodes, rows, strict=True)
            )

    def add_feedback(self, episode_id: str, feedback: Feedback) -> bool:
        with self._writing() as connection:
            if select_position(connection, self._tables, episode_id) is None:
                raise unknown_episode(episode_id)
            return self._attach(episode_id, feedback)

    def get(self, episode_id: str) -> Episode | None:
        with self._reading() as connection:
            position = select_position(connection, self._tables, episode_id)
            if position is None:
                return None
            return select_episodes(connection, self._tables, [position])[position]

    def nearest(
        self, vector: Vectors, *, k: int, outcome: Outcome | None = None, group: str | None = None
    ) -> list[Match]:
        asked = check_vectors(vector[np.newaxis], dimension=self.dimension, count=1)[0]
        with self._reading() as connection:
            hits = self._index.nearest(asked, k=k, outcome=outcome, group=group)
            episodes = select_episodes(connection, self._tables, [hit.position for hit in hits])
        return [Match(episode=episodes[hit.position], similarity=hit.similarity) for hit in hits]

    def recent(self, *, k: int, outcome: Outcome | None = None) -> list[Episode]:
        with self._reading() as connection:
            positions = self._index.newest(k=k, outcome=outcome)
            episodes = select_episodes(connection, self._tables, positions)
        return [episodes[position] for position in positions]

    def walk(self) -> Iterator[Kept]:
        """Go through all episodes, oldest first, a few hundred in memory at a time.

        Nothing is locked in between: what is added meanwhile comes too.
        """
        since = 0
        while True:
            with self._reading() as connection:
                page = select_page(connection, self._tables, since=since)
            if not page:
                return
            yield from page.values()
            since = max(page) + 1

    def erase(self, query_ids: Collection[str]) -> int:
        """Remove the episodes of some queries for good, and return how many there were.

        Their corrections and all feedback on them go too, in one transaction, and what was in
        the file is written over.
        """
        with self._writing() as connection:
            erased = erase_episodes(connection, self._tables, query_ids)
        if erased:
            with self.write_lock, self._lock:
                empty_log(self._connection, self.path)
        return erased

    def _insert(self, episode: Episode, vector: Vectors) -> bool:
        digest = content_hash(episode)
        there = select_hash(self._connection, self._tables, episode.id)
        if there is not None:
            check_content(episode, there=there, given=digest)
            return False
        insert_episode(self._connection, self._tables, episode, vector, digest=digest)
        for feedback in distinct(episode.feedback):
            self._attach(episode.id, feedback)
        return True

    def _attach(self, episode_id: str, feedback: Feedback) -> bool:
        there = select_target(self._connection, self._tables, feedback.id)
        if there is not None:
            check_target(feedback, there=there, asked=episode_id)
            return False
        insert_feedback(self._connection, self._tables, episode_id, feedback)
        return True

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with (
            self.write_lock,  # first, so that nobody who reads waits for other stores' writes
            self._lock,
            transaction(self._connection, self.path, "IMMEDIATE"),
        ):
            self._data_version = STALE
            if self.scope:
                read_generation(self._connection, self._tables)
            yield self._connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Hold one state of the file, with the index in step with it."""
        with self._lock, transaction(self._connection, self.path, "DEFERRED"):
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._data_version:
                self._index.catch_up(self._connection)
                self._data_version = version
            yield self._connection

    def _open_tables(self) -> Tables:
        """Make or update the tables, and refuse those of another embedder."""
        asked = EmbedderKey(name=self.embedder_name, dimension=self.dimension)
        with self.write_lock, transaction(self._connection, self.path, "IMMEDIATE"):
            opened = open_tables(self._connection, self.scope, asked)
            there = opened.embedder
            if there != asked:
                raise EmbedderMismatchError(
                    f"the store {str(self.path)!r} holds vectors of {there.name!r} with dimension "
                    f"{there.dimension}, asked for was {asked.name!r} with {asked.dimension}; "
                    "use that embedder, or give a new path"
                )
        return opened.tables
