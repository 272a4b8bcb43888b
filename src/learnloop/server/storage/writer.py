"""The one thread that writes: what waits is committed together, and acknowledged after that."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, TypeVar

from learnloop.errors import LearnloopError, StoreError
from learnloop.memory.sqlite_connection import told, transaction

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]

MOST_TOGETHER = 256
MOST_WAITING = 20_000

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    write: Write[Any]
    future: Future[Any]
    since: float


class Writer:
    """Runs writes one after the other in one thread, each in a savepoint of a shared transaction.

    A future has its result only once the transaction is committed. A write that fails undoes
    itself alone. A write that was submitted is made: its future cannot be cancelled.

    Args:
        connection: Used by this thread alone, and closed by it.
        path: The database file, for messages.
        clock: Seconds, for how long the oldest write has waited.

    Attributes:
        lock: Held while a transaction is open; for others in this process who write the file.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.clock = clock
        self._connection = connection
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self.lock = Lock()
        self._lock = Lock()
        self._closed = False
        self._oldest: float | None = None
        self._thread = Thread(target=self._work, name="learnloop-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write[T]) -> Future[T]:
        """Queue a write; it is handed the connection, inside a transaction, in the thread.

        Raises:
            StoreError: The writer is closed, or too much is waiting already.
        """
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise StoreError(f"the database {str(self.path)!r} is closed; start again")
            if self.waiting >= MOST_WAITING:
                raise StoreError(
                    f"{self.waiting} writes wait for {str(self.path)!r}; check the disk, "
                    "and try again later"
                )
            self._queue.put(_Job(write=write, future=future, since=self.clock()))
        return future

    @property
    def waiting(self) -> int:
        """How many writes have not begun."""
        return self._queue.qsize()

    @property
    def stuck_for(self) -> float:
        """Seconds since the oldest write of the transaction at work was submitted; 0 at rest."""
        oldest = self._oldest
        return 0.0 if oldest is None else self.clock() - oldest

    def close(self) -> None:
        """Make all that was submitted, then let go of the file."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        job = self._queue.get()
        while job is not None:
            jobs, last = self._take(job)
            self._oldest = job.since
            self._commit(jobs)
            self._oldest = None
            job = None if last else self._queue.get()
        self._connection.close()

    def _take(self, first: _Job) -> tuple[list[_Job], bool]:
        """Return what waits, up to a limit, and whether nothing comes after it."""
        jobs = [first]
        while len(jobs) < MOST_TOGETHER:
            try:
                job = self._queue.get_nowait()
            except Empty:
                return jobs, False
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False

    def _commit(self, jobs: list[_Job]) -> None:
        done: list[tuple[_Job, Any]] = []
        try:
            with self.lock, transaction(self._connection, self.path, "IMMEDIATE"):
                for job in jobs:
                    with _Savepoint(self._connection, self.path, job.future):
                        done.append((job, job.write(self._connection)))
        except LearnloopError as error:
            for job in jobs:
                if not job.future.done():
                    job.future.set_exception(error)
            return
        for job, result in done:
            job.future.set_result(result)


class _Savepoint:
    """Undoes a write that fails and tells its future, as long as the transaction lives on."""

    def __init__(self, connection: sqlite3.Connection, path: Path, future: Future[Any]) -> None:
        self._connection = connection
        self._path = path
        self._future = future

    def __enter__(self) -> None:
        self._connection.execute("SAVEPOINT one_write")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None:
            if not self._connection.in_transaction:
                return False  # a full disk, say: SQLite has given up all of the transaction
            self._connection.execute("ROLLBACK TO one_write")
        self._connection.execute("RELEASE one_write")
        if error is None:
            return False
        if not isinstance(error, LearnloopError):
            _LOG.error("a write failed", exc_info=error)
        self._future.set_exception(_explain(error, self._path))
        return True


def _explain(error: BaseException, path: Path) -> BaseException:
    """Say of a failure of the file what can be done; what breaks a rule of the tables stays."""
    if isinstance(error, sqlite3.OperationalError):
        try:
            with told(path):
                raise error
        except StoreError as explained:
            return explained
    return error
