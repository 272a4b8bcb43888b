"""The server's database file: one writer, and connections for readers."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Literal, TypeVar

from learnloop.errors import StoreError
from learnloop.memory.sqlite_connection import connect, told, transaction
from learnloop.server.storage.schema import back_up, bring_up_to_date
from learnloop.server.storage.writer import Write, Writer

T = TypeVar("T")


class Database:
    """One SQLite file. Reads see what is committed; writes go through one thread.

    Args:
        path: The file; it is made, with its folder, where there is none.
        sync: `full` also survives a power cut.

    Raises:
        StoreError: The file cannot be used, is another program's, or a newer learnloop made it.

    Examples:
        >>> import tempfile
        >>> from learnloop.server.storage import tenants
        >>> with Database(Path(tempfile.mkdtemp()) / "server.sqlite") as database:
        ...     made = database.write(
        ...         lambda connection: tenants.create(connection, tenant="acme", at="2026-01-01")
        ...     )
        ...     made.result()
        ...     with database.read() as connection:
        ...         tenants.exists(connection, tenant="acme")
        True
        True
    """

    def __init__(self, path: Path, *, sync: Literal["normal", "full"] = "normal") -> None:
        self.path = path
        _keep_private(path)
        connection = connect(path)
        try:
            self.copied_to = bring_up_to_date(connection, path)
        except BaseException:
            connection.close()
            raise
        connection.execute(f"PRAGMA synchronous = {sync}")
        self.writer = Writer(connection, path)
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._closed = False

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, write: Write[T]) -> Future[T]:
        """Have the writer's thread make a write; the result is there once it is committed."""
        return self.writer.submit(write)

    async def written(self, write: Write[T]) -> T:
        """Make a write and wait for it without holding up the event loop.

        A caller that is cancelled stops waiting; the write is made all the same.
        """
        return await asyncio.wrap_future(self.writer.submit(write))

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that sees one state of the file and cannot write.

        Raises:
            StoreError: The database is closed, or the file cannot be read.
        """
        connection = self._borrow()
        try:
            with transaction(connection, self.path, "DEFERRED"):
                yield connection
        except StoreError:
            connection.close()
            raise
        except BaseException:
            self._give_back(connection)
            raise
        self._give_back(connection)

    def back_up(self, to: Path) -> Path:
        """Copy the file while it is in use."""
        connection = self._borrow()
        try:
            return back_up(connection, to)
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Finish the writes that were submitted and let go of the file."""
        self._closed = True
        self.writer.close()
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _borrow(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"the database {str(self.path)!r} is closed; start again")
        try:
            return self._idle.get_nowait()
        except Empty:
            connection = connect(self.path)
            connection.execute("PRAGMA query_only = ON")
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.put(connection)


def _keep_private(path: Path) -> None:
    """Make a file that is not there yet one that its owner alone can read."""
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
