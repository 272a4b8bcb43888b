import pytest

from learnloop.server.storage import inferences, tenants
from learnloop.server.storage.database import Database
from learnloop.server.storage.inferences import Inference

AT = "2026-03-01T10:00:00.000Z"


class Store:
    """A database with two tenants, and short ways to write to it and to read from it."""

    def __init__(self, database):
        self.database = database
        for tenant in ("acme", "beta"):
            self.do(tenants.create, tenant=tenant, at=AT)

    def do(self, write, **arguments):
        return self.database.write(lambda connection: write(connection, **arguments)).result(30)

    def see(self, read, *words, **arguments):
        with self.database.read() as connection:
            return read(connection, *words, **arguments)

    def infer(self, inference_id, *, tenant="acme", task="sql", query="How many?", **fields):
        given = {"created_at": AT, **fields}
        made = Inference(id=inference_id, tenant=tenant, task=task, query=query, **given)
        self.do(inferences.insert, tenant=tenant, inference=made)
        return made


@pytest.fixture(scope="session")
def make_store():
    return Store


@pytest.fixture
def store(tmp_path):
    with Database(tmp_path / "server.sqlite") as database:
        yield Store(database)
