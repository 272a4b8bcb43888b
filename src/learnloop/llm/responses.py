"""The SQLite file behind the response cache: replies by key, failures by key and scope."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from learnloop import errors
from learnloop.errors import LanguageModelError, RateLimitError, StoreError, StoreLockedError
from learnloop.types import Reply, Usage

VERSION = 1
PATIENCE = 10.0
"""Seconds to wait for another process that writes."""


class Responses:
    """Replies and failures on disk. One connection, one writer at a time, safe between threads.

    The file survives the death of the process at any moment. After a power cut the last replies
    may be missing; they are then asked for again.
    """

    def __init__(self, path: Path | None, *, patience: float = PATIENCE) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._explained():
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=patience,
                isolation_level=None,
                check_same_thread=False,
            )
            self._prepare()

    def find(self, key: str, *, scope: str | None) -> Reply | LanguageModelError | None:
        """Return the failure under that scope, else the reply, else `None`."""
        with self._lock, self._explained():
            failed = self._connection.execute(FIND_FAILURE, (key, scope)).fetchone()
            found = None if failed else self._connection.execute(FIND_REPLY, (key,)).fetchone()
        if failed:
            return _failure(*failed)
        return _reply(found[0]) if found else None

    def add(self, key: str, reply: Reply, *, model: str) -> Reply:
        """Keep a reply and return the one in force: the first that was kept under its key."""
        body = {
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "usage": asdict(reply.usage),
        }
        with self._lock, self._explained():
            self._connection.execute(ADD_REPLY, (key, model, json.dumps(body)))
            kept = self._connection.execute(FIND_REPLY, (key,)).fetchone()
        return _reply(kept[0])

    def add_failure(self, key: str, error: LanguageModelError, *, scope: str) -> None:
        """Keep a failure under a scope."""
        wait = error.retry_after if isinstance(error, RateLimitError) else None
        row = (key, scope, type(error).__name__, str(error), wait)
        with self._lock, self._explained():
            self._connection.execute(ADD_FAILURE, row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise StoreError(
                f"response cache {str(self.path)!r} has version {version}, made by a newer "
                f"learnloop; this one reads version {VERSION}"
            )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            self._connection.executescript(SCHEMA)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the database into ours."""
        where = f"response cache {str(self.path)!r}"
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise StoreLockedError(
                    f"{where} is locked by another process; wait for it or give another --out"
                ) from error
            raise StoreError(f"{where} cannot be used: {error}") from error
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(f"{where} cannot be used: {error}") from error


def _reply(body: str) -> Reply:
    kept = json.loads(body)
    return Reply(
        text=kept["text"], finish_reason=kept["finish_reason"], usage=Usage(**kept["usage"])
    )


def _failure(kind: str, message: str, wait: float | None) -> LanguageModelError:
    if kind == RateLimitError.__name__:
        return RateLimitError(message, retry_after=wait)
    made = getattr(errors, kind, LanguageModelError)(message)
    return made if isinstance(made, LanguageModelError) else LanguageModelError(message)


SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    key TEXT, scope TEXT, kind TEXT NOT NULL, message TEXT NOT NULL, retry_after REAL,
    PRIMARY KEY (key, scope)
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""
FIND_REPLY = "SELECT body FROM replies WHERE key = ?"
FIND_FAILURE = "SELECT kind, message, retry_after FROM failures WHERE key = ? AND scope = ?"
ADD_REPLY = "INSERT OR IGNORE INTO replies (key, model, body) VALUES (?, ?, ?)"
ADD_FAILURE = "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)"
