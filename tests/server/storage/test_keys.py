import hashlib
import sqlite3

import pytest

from learnloop.errors import ParameterError, UnknownNameError
from learnloop.server.storage import keys, tenants
from learnloop.server.storage.keys import Principal

AT = "2026-03-01T10:00:00.000Z"


def make(store, key_id, *, tenant="acme", role="app"):
    secret = keys.new_secret()
    store.do(keys.make, tenant=tenant, role=role, secret=secret, key_id=key_id, at=AT)
    return secret


def test_a_key_leads_to_its_tenant_and_role(store):
    secret = make(store, "key_1", tenant="beta", role="reviewer")
    found = store.see(keys.find, secret)
    assert found == Principal(tenant="beta", role="reviewer", key_id="key_1")
    assert store.see(keys.find, secret + "x") is None


def test_only_the_hash_of_a_key_is_kept(store):
    secret = make(store, "key_1")
    connection = sqlite3.connect(store.database.path)
    (kept,) = connection.execute("SELECT * FROM keys").fetchall()
    connection.close()
    assert secret not in kept
    assert hashlib.sha256(secret.encode()).hexdigest() in kept


def test_two_keys_differ_and_say_whose_they_are():
    assert keys.new_secret() != keys.new_secret()
    assert keys.new_secret().startswith("ll_")


def test_a_revoked_key_leads_nowhere_and_stays_on_the_list(store):
    secret = make(store, "key_1")
    assert store.do(keys.revoke, tenant="acme", key_id="key_1", at="2026-03-02")
    assert not store.do(keys.revoke, tenant="acme", key_id="key_1", at="2026-03-03")
    assert store.see(keys.find, secret) is None
    (listed,) = store.see(keys.list_of, tenant="acme")
    assert listed.revoked_at == "2026-03-02"
    assert store.see(keys.any_exist)


def test_a_tenant_cannot_see_or_revoke_the_keys_of_another(store):
    secret = make(store, "key_1")
    assert store.see(keys.list_of, tenant="beta") == ()
    with pytest.raises(UnknownNameError):
        store.do(keys.revoke, tenant="beta", key_id="key_1", at=AT)
    assert store.see(keys.find, secret) is not None


@pytest.mark.parametrize("name", ["", "Acme", "a.b", "a b", "1a", "a" * 64, "acme\n"])
def test_what_cannot_name_a_tenant_is_refused(store, name):
    with pytest.raises(ParameterError):
        store.do(tenants.create, tenant=name, at=AT)


def test_a_tenant_is_made_once(store):
    assert store.do(tenants.create, tenant="gamma", at=AT)
    assert not store.do(tenants.create, tenant="gamma", at="later")
    assert store.see(tenants.exists, tenant="gamma")
    assert [each.created_at for each in store.see(tenants.list_all)] == [AT] * 3


def test_a_role_has_a_name():
    assert keys.check_role("admin") == "admin"
    with pytest.raises(ParameterError, match="app, reviewer, admin"):
        keys.check_role("root")
