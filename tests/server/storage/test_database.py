import asyncio
import sqlite3
import stat

import pytest

from learnloop.errors import StoreError
from learnloop.memory.sqlite import SQLiteStore
from learnloop.memory.sqlite_families import APPLICATION_ID
from learnloop.server.storage import schema, tenants
from learnloop.server.storage.database import Database

AT = "2026-03-01T10:00:00.000Z"


def make(tenant):
    return lambda connection: tenants.create(connection, tenant=tenant, at=AT)


def names(database):
    with database.read() as connection:
        return [each.name for each in tenants.list_all(connection)]


def test_what_was_written_is_there_when_the_file_is_opened_again(tmp_path):
    path = tmp_path / "folder" / "server.sqlite"
    with Database(path) as database:
        database.write(make("acme")).result(30)
    with Database(path, sync="full") as database:
        assert names(database) == ["acme"]


def test_the_file_is_marked_and_its_owner_alone_can_read_it(tmp_path):
    path = tmp_path / "server.sqlite"
    Database(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_readers_cannot_write(tmp_path):
    with Database(tmp_path / "server.sqlite") as database:
        with pytest.raises(StoreError, match="read-only"), database.read() as connection:
            tenants.create(connection, tenant="acme", at=AT)
        assert names(database) == []


def test_a_reader_sees_one_state_while_others_write(tmp_path):
    with Database(tmp_path / "server.sqlite") as database:
        with database.read() as connection:
            assert tenants.list_all(connection) == ()
            database.write(make("acme")).result(30)
            assert tenants.list_all(connection) == ()
        assert names(database) == ["acme"]


def test_a_file_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (n)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Database(path)
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(StoreError, match="not a database"):
        Database(path)


def test_a_file_of_a_newer_learnloop_is_left_alone(tmp_path):
    path = tmp_path / "server.sqlite"
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE schema_families SET version = 99 WHERE family = 'server'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="update learnloop"):
        Database(path)


def test_an_older_file_is_copied_before_it_is_changed(tmp_path, monkeypatch):
    path = tmp_path / "server.sqlite"
    with Database(path) as database:
        database.write(make("acme")).result(30)
    newer = (*schema.MIGRATIONS, ("ALTER TABLE tenants ADD COLUMN plan TEXT",))
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    with Database(path) as database, database.read() as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(tenants)")]
        copied_to = database.copied_to
    assert columns == ["name", "created_at", "plan"]
    copy = sqlite3.connect(copied_to)
    assert copy.execute("SELECT * FROM tenants").fetchall() == [("acme", AT)]
    copy.close()
    with Database(path) as database:
        assert database.copied_to is None


def test_memory_of_several_scopes_lives_in_the_same_file(tmp_path):
    path = tmp_path / "server.sqlite"
    with (
        Database(path) as database,
        SQLiteStore(path, embedder_name="by-hand", dimension=2, scope="acme.sql") as store,
    ):
        database.write(make("acme")).result(30)
        assert len(store) == 0
    Database(path).close()


def test_a_copy_can_be_made_while_the_file_is_in_use(tmp_path):
    with Database(tmp_path / "server.sqlite") as database:
        database.write(make("acme")).result(30)
        copy = database.back_up(tmp_path / "copy.sqlite")
        database.write(make("beta")).result(30)
    with Database(copy) as database:
        assert names(database) == ["acme"]


def test_a_caller_who_gives_up_waiting_does_not_undo_a_write(tmp_path):
    async def give_up(database):
        task = asyncio.ensure_future(database.written(make("acme")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Database(tmp_path / "server.sqlite") as database:
        asyncio.run(give_up(database))
    with Database(tmp_path / "server.sqlite") as database:
        assert names(database) == ["acme"]


def test_a_database_that_is_closed_says_so(tmp_path):
    database = Database(tmp_path / "server.sqlite")
    database.close()
    with pytest.raises(StoreError, match="closed"), database.read():
        pass
