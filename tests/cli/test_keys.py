import json
from pathlib import Path

import pytest

from learnloop.server.config import read_config
from learnloop.server.storage import audit, keys
from learnloop.server.storage.database import Database


@pytest.fixture
def server(learnloop):
    assert learnloop("init").exit_code == 0
    return learnloop


def test_a_key_is_printed_once_and_works(server):
    made = server("keys", "create", "--tenant", "acme", "--role", "admin")
    secret = made.stdout.strip()
    assert made.exit_code == 0
    assert secret.startswith("ll_")
    path = read_config(Path("learnloop.toml")).database
    with Database(path) as database, database.read() as connection:
        found = keys.find(connection, secret)
        (entry,) = audit.page(connection, tenant="acme").items
    assert (found.tenant, found.role) == ("acme", "admin")
    assert (entry.action, entry.target) == ("key created", found.key_id)
    assert secret not in server("keys", "list").stdout


def test_keys_are_listed_and_revoked(server):
    first = json.loads(server("keys", "create", "--json").stdout)
    server("keys", "create", "--tenant", "acme")
    listed = json.loads(server("keys", "list", "--json").stdout)
    assert sorted((each["tenant"], each["role"]) for each in listed) == [
        ("acme", "app"),
        ("default", "app"),
    ]
    assert "key" not in listed[0]
    revoked = server("keys", "revoke", first["id"], "--json")
    assert json.loads(revoked.stdout) == {"id": first["id"], "revoked": True}
    assert "before" in server("keys", "revoke", first["id"]).stdout
    only = json.loads(server("keys", "list", "--tenant", "default", "--json").stdout)
    assert [each["revoked_at"] is None for each in only] == [False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "--role", "root"), "no role 'root'"),
        (("create", "--tenant", "A B"), "got 'A B'"),
        (("revoke", "key_1"), "no key 'key_1'"),
        (("list", "--config", "other.toml"), "learnloop init"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(server, words, said):
    result = server("keys", *words)
    assert result.exit_code == 2
    assert said in result.stderr
