"""Learner states, versions and labels of prompts, quarantine, audit."""

import sqlite3
from dataclasses import replace

import pytest

from learnloop.errors import ConflictError, UnknownNameError
from learnloop.server.storage import (
    audit,
    labels,
    learner_states,
    prompt_versions,
    quarantine,
)
from learnloop.server.storage.audit import AuditEntry
from learnloop.server.storage.labels import Move
from learnloop.server.storage.quarantine import Held
from learnloop.types import Prompt

AT = "2026-03-01T10:00:00.000Z"
SQL = {"tenant": "acme", "task": "sql"}


def swap(store, expected, state, **where):
    return store.do(learner_states.swap, **{**SQL, **where}, expected=expected, state=state, at=AT)


def add(store, version, text="Answer.", **fields):
    prompt = Prompt(version=version, text=text, parent=fields.pop("parent", None))
    given = {**SQL, "cause": "edit", "at": AT, **fields}
    return store.do(prompt_versions.add, prompt=prompt, **given)


def move(store, version, *, how=labels.move, **fields):
    to = Move(label="production", version=version, by="key_1", at=AT, **fields)
    return store.do(how, **SQL, to=to)


def at(store):
    return store.see(labels.get, **SQL, label="production")


def test_a_state_lands_only_on_the_one_it_was_made_from(store):
    assert store.see(learner_states.get, **SQL) is None
    assert swap(store, 0, {"rules": ["a"]}) == 1
    assert swap(store, 1, {"rules": ["b"]}) == 2
    for late in (0, 1, 7):
        with pytest.raises(ConflictError):
            swap(store, late, {"rules": ["late"]})
    there = store.see(learner_states.get, **SQL)
    assert (there.version, there.state, there.updated_at) == (2, {"rules": ["b"]}, AT)


def test_each_tenant_and_task_has_a_state_of_its_own(store):
    swap(store, 0, {"n": 1})
    assert swap(store, 0, {"n": 2}, tenant="beta") == 1
    assert swap(store, 0, {"n": 3}, task="chat") == 1
    assert store.see(learner_states.get, **SQL).state == {"n": 1}


def test_a_version_of_a_prompt_never_changes(store):
    assert add(store, 0, cause="initial", refs=("e1",))
    assert not add(store, 0)
    with pytest.raises(ConflictError, match="never changes"):
        add(store, 0, text="Something else.")
    there = store.see(prompt_versions.get, **SQL, version=0)
    assert (there.text, there.cause, there.refs) == ("Answer.", "initial", ("e1",))
    with pytest.raises(sqlite3.IntegrityError):
        store.do(lambda connection: connection.execute("UPDATE prompt_versions SET text = 'x'"))


def test_versions_are_numbered_for_each_tenant(store):
    assert store.see(prompt_versions.next_version, **SQL) == 0
    add(store, 0)
    add(store, 1, text="Better.", parent=0)
    assert [each.version for each in store.see(prompt_versions.list_of, **SQL)] == [1, 0]
    assert store.see(prompt_versions.next_version, **SQL) == 2
    assert store.see(prompt_versions.list_of, tenant="beta", task="sql") == ()


def test_a_label_moves_to_versions_that_exist(store):
    add(store, 0)
    add(store, 1, text="Better.", parent=0)
    assert move(store, 0) == at(store)
    assert move(store, 1, expected=0).version == 1
    with pytest.raises(ConflictError, match="no longer at version 0"):
        move(store, 0, expected=0)
    with pytest.raises(UnknownNameError, match="no version 9"):
        move(store, 9)
    assert at(store).version == 1


def test_a_pinned_label_stays_until_it_is_let_go(store):
    add(store, 0)
    add(store, 1, text="Better.", parent=0)
    assert move(store, 0, how=labels.pin).pinned
    with pytest.raises(ConflictError, match="unpin it first"):
        move(store, 1)
    assert move(store, 1, how=labels.pin).version == 1
    assert store.do(labels.unpin, **SQL, label="production")
    assert not store.do(labels.unpin, **SQL, label="production")
    assert move(store, 0).version == 0


HELD = Held(
    id="h1",
    task="sql",
    kind="bullet",
    text="See http://example.test",
    reason="a link",
    created_at=AT,
    refs=("e1",),
)


def test_the_same_text_is_held_once_for_each_tenant(store):
    assert store.do(quarantine.hold, tenant="acme", held=HELD)
    assert not store.do(quarantine.hold, tenant="acme", held=replace(HELD, id="h2"))
    assert store.do(quarantine.hold, tenant="beta", held=HELD)
    assert store.see(quarantine.page, tenant="acme").items == (HELD,)


def test_a_person_decides_once(store):
    store.do(quarantine.hold, tenant="acme", held=HELD)
    decision = {"held_id": "h1", "status": "released", "by": "key_1", "at": AT}
    with pytest.raises(UnknownNameError):
        store.do(quarantine.decide, tenant="beta", **decision)
    decided = store.do(quarantine.decide, tenant="acme", **decision)
    assert decided == replace(HELD, status="released", decided_by="key_1", decided_at=AT)
    with pytest.raises(ConflictError, match="released by key_1"):
        store.do(quarantine.decide, tenant="acme", **decision)
    assert store.see(quarantine.page, tenant="acme").items == ()
    assert store.see(quarantine.page, tenant="acme", status=None).items == (decided,)
    found = store.see(quarantine.find, tenant="acme", task="sql", text=HELD.text)
    assert found == decided


def test_what_was_done_stays_on_record(store):
    entries = [AuditEntry(at=AT, actor="key_1", action="pinned", target=f"v{n}") for n in range(3)]
    for entry in entries:
        store.do(audit.record, tenant="acme", entry=entry)
    page = store.see(audit.page, tenant="acme", limit=2)
    rest = store.see(audit.page, tenant="acme", cursor=page.next_cursor, limit=2)
    assert [*page.items, *rest.items] == entries[::-1]
    assert store.see(audit.page, tenant="beta").items == ()
    for statement in ("DELETE FROM audit", "UPDATE audit SET actor = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store.do(lambda connection, said=statement: connection.execute(said))
