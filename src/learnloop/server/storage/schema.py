"""The server's tables, how an older file becomes a newer one, and the copy made before that."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from learnloop.memory.sqlite_connection import told, transaction
from learnloop.memory.sqlite_families import check_version, claim, read_version, write_version

FAMILY = "server"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE tenants (name TEXT PRIMARY KEY, created_at TEXT NOT NULL) STRICT",
        """CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            tenant TEXT NOT NULL REFERENCES tenants (name),
            role TEXT NOT NULL CHECK (role IN ('app', 'reviewer', 'admin')),
            label TEXT NOT NULL,
            sha256 TEXT NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            revoked_at TEXT
        ) STRICT""",
        """CREATE TABLE inferences (
            position INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL REFERENCES tenants (name),
            id TEXT NOT NULL,
            task TEXT NOT NULL,
            created_at TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('answered', 'failed', 'cancelled')),
            memory TEXT NOT NULL CHECK (memory IN ('used', 'empty', 'off', 'control', 'failed')),
            correct INTEGER CHECK (correct IN (0, 1)),
            model TEXT NOT NULL,
            finish_reason TEXT,
            prompt_version INTEGER,
            query_group TEXT NOT NULL,
            user_id TEXT NOT NULL,
            tokens_in INTEGER NOT NULL,
            tokens_cached INTEGER NOT NULL,
            tokens_out INTEGER NOT NULL,
            tokens_thinking INTEGER NOT NULL,
            seconds REAL NOT NULL,
            cost REAL,
            error TEXT,
            examples TEXT NOT NULL,
            evidence TEXT NOT NULL,
            policy TEXT,
            query TEXT NOT NULL,
            answer TEXT NOT NULL,
            messages TEXT,
            UNIQUE (tenant, id)
        ) STRICT""",
        "CREATE INDEX inferences_by_task ON inferences (tenant, task, position)",
        "CREATE INDEX inferences_by_day ON inferences (tenant, task, created_at)",
        "CREATE INDEX inferences_by_user ON inferences (tenant, user_id) WHERE user_id != ''",
        """CREATE TABLE feedback_log (
            position INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            id TEXT NOT NULL,
            target_id TEXT NOT NULL,
            task TEXT NOT NULL,
            content TEXT NOT NULL,
            received_at TEXT NOT NULL,
            reflected_at TEXT,
            UNIQUE (tenant, id),
            FOREIGN KEY (tenant, target_id) REFERENCES inferences (tenant, id)
        ) STRICT""",
        "CREATE INDEX feedback_by_target ON feedback_log (tenant, target_id, position)",
        """CREATE INDEX feedback_waiting ON feedback_log (tenant, task, position)
            WHERE reflected_at IS NULL""",
        """CREATE TABLE learner_states (
            tenant TEXT NOT NULL REFERENCES tenants (name),
            task TEXT NOT NULL,
            version INTEGER NOT NULL,
            state TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            PRIMARY KEY (tenant, task)
        ) STRICT""",
        """CREATE TABLE prompt_versions (
            tenant TEXT NOT NULL REFERENCES tenants (name),
            task TEXT NOT NULL,
            version INTEGER NOT NULL,
            text TEXT NOT NULL,
            parent INTEGER,
            cause TEXT NOT NULL,
            refs TEXT NOT NULL,
            created_at TEXT NOT NULL,
            PRIMARY KEY (tenant, task, version)
        ) STRICT""",
        """CREATE TRIGGER prompt_versions_stay BEFORE UPDATE ON prompt_versions
            BEGIN SELECT raise(ABORT, 'a version of a prompt never changes'); END""",
        """CREATE TABLE labels (
            tenant TEXT NOT NULL,
            task TEXT NOT NULL,
            label TEXT NOT NULL,
            version INTEGER NOT NULL,
            pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
            moved_at TEXT NOT NULL,
            moved_by TEXT NOT NULL,
            PRIMARY KEY (tenant, task, label),
            FOREIGN KEY (tenant, task, version) REFERENCES prompt_versions (tenant, task, version)
        ) STRICT""",
        """CREATE TABLE quarantine (
            position INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL REFERENCES tenants (name),
            id TEXT NOT NULL,
            task TEXT NOT NULL,
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            reason TEXT NOT NULL,
            refs TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('held', 'released', 'dropped')),
            created_at TEXT NOT NULL,
            decided_at TEXT,
            decided_by TEXT,
            UNIQUE (tenant, id)
        ) STRICT""",
        """CREATE TABLE audit (
            position INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            at TEXT NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            target TEXT NOT NULL,
            detail TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX audit_by_tenant ON audit (tenant, position)",
        *(
            f"CREATE TRIGGER audit_no_{act} BEFORE {act} ON audit "
            "BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END"
            for act in ("UPDATE", "DELETE")
        ),
    ),
    (
        """CREATE TABLE learning_calls (
            tenant TEXT NOT NULL REFERENCES tenants (name),
            task TEXT NOT NULL,
            calls INTEGER NOT NULL,
            PRIMARY KEY (tenant, task)
        ) STRICT""",
    ),
)
"""What was done to the tables, oldest first. Only ever append."""


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> Path | None:
    """Bring a file to the newest version; return the copy made of an older one before.

    Raises:
        StoreError: The file is of another program, or a newer learnloop made it.
    """
    with told(path):
        version = read_version(connection, FAMILY)
        copy = None
        if 0 < version < len(MIGRATIONS):
            copy = back_up(connection, path.with_name(f"{path.name}.version-{version}"))
    with transaction(connection, path, "IMMEDIATE"):
        _migrate(connection)
    return copy


def back_up(connection: sqlite3.Connection, to: Path) -> Path:
    """Copy a database that may be in use to another file, whole or not at all."""
    unfinished = to.with_name(f"{to.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished)) as copy:
        connection.backup(copy)
    return unfinished.replace(to)


def _migrate(connection: sqlite3.Connection) -> None:
    claim(connection)
    version = read_version(connection, FAMILY)
    check_version(version, known=len(MIGRATIONS))
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    if version < len(MIGRATIONS):
        write_version(connection, FAMILY, len(MIGRATIONS))
