from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ConflictError, StoreError
from learnloop.server.storage import inference_counts, inferences
from learnloop.server.storage.database import Database
from learnloop.server.storage.inference_counts import DayCount
from learnloop.server.storage.inferences import Inference, Wanted
from learnloop.types import Bullet, Policy, Usage

FULL = Inference(
    id="i1",
    tenant="acme",
    task="sql",
    created_at="2026-03-01T10:00:00.000Z",
    query="How many orders — 'überall'?\x00",
    answer="SELECT 1",
    model="local/small",
    memory="used",
    status="cancelled",
    error="hung up",
    finish_reason="stop",
    usage=Usage(tokens_in=9, tokens_cached=4, tokens_out=3, seconds=1.5, cost=0.25),
    messages='[{"role": "user"}]',
    examples=("e1", "e2"),
    evidence=("e3",),
    policy=Policy(bullets=(Bullet(text="In cents.", sources=("e3",), helped=2),), writer="rules"),
    prompt_version=7,
    group="shop",
    user="u1",
)


def ids(page):
    return [each.id for each in page.items]


def test_all_of_an_inference_comes_back(store):
    store.do(inferences.insert, tenant="acme", inference=FULL)
    assert store.see(inferences.get, tenant="acme", inference_id="i1") == FULL
    (listed,) = store.see(inferences.page, tenant="acme").items
    assert listed == replace(FULL, messages=None)


def test_an_id_is_taken_once_for_each_tenant(store):
    store.infer("i1")
    with pytest.raises(ConflictError):
        store.infer("i1", query="Another?")
    store.infer("i1", tenant="beta")


def test_a_tenant_sees_its_own(store):
    store.infer("i1", tenant="beta")
    assert store.see(inferences.get, tenant="acme", inference_id="i1") is None
    assert ids(store.see(inferences.page, tenant="acme")) == []
    assert store.see(inferences.count, tenant="acme") == 0
    with pytest.raises(StoreError):
        store.do(inferences.insert, tenant="acme", inference=replace(FULL, tenant="beta"))


@settings(max_examples=20, deadline=None)
@given(count=st.integers(0, 12), limit=st.integers(1, 5))
def test_pages_put_together_hold_all_once_and_newest_first(
    make_store, tmp_path_factory, count, limit
):
    with Database(tmp_path_factory.mktemp("pages") / "server.sqlite") as database:
        store = make_store(database)
        for n in range(count):
            store.infer(f"i{n}")
            store.infer(f"other{n}", tenant="beta")
        seen, cursor = [], None
        while True:
            page = store.see(inferences.page, tenant="acme", cursor=cursor, limit=limit)
            seen += ids(page)
            cursor = page.next_cursor
            if cursor is None:
                break
    assert seen == [f"i{n}" for n in reversed(range(count))]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["c", "b", "a"]),
        (Wanted(task="sql"), ["b", "a"]),
        (Wanted(memory="control"), ["b"]),
        (Wanted(status="failed"), ["c"]),
        (Wanted(user="u1"), ["a"]),
        (Wanted(group="shop"), ["b"]),
        (Wanted(model="m2"), ["c"]),
        (Wanted(prompt_version=2), ["b"]),
        (Wanted(since="2026-03-02"), ["c", "b"]),
        (Wanted(until="2026-03-02"), ["a"]),
        (Wanted(text="ORDERS"), ["a"]),
        (Wanted(text="%"), []),
        (Wanted(outcome="unknown"), ["c", "b"]),
        (Wanted(outcome="right"), ["a"]),
        (Wanted(outcome="wrong"), []),
        (Wanted(task="sql", memory="used"), ["a"]),
    ],
)
def test_a_list_holds_what_is_wanted(store, wanted, found):
    store.infer("a", query="How many orders?", user="u1", memory="used")
    store.infer(
        "b", created_at="2026-03-02T00:00:00Z", memory="control", group="shop", prompt_version=2
    )
    store.infer("c", task="chat", created_at="2026-03-03T00:00:00Z", status="failed", model="m2")
    store.do(inferences.judge, tenant="acme", inference_id="a", correct=True)
    assert ids(store.see(inferences.page, tenant="acme", wanted=wanted)) == found
    assert store.see(inferences.count, tenant="acme", wanted=wanted) == len(found)


def test_days_are_added_up_by_hand(store):
    first = {"created_at": "2026-03-01T23:59:59.999Z", "memory": "used"}
    store.infer("a", usage=Usage(tokens_in=10, tokens_out=1, cost=0.5), **first)
    store.infer("b", usage=Usage(tokens_in=20, tokens_out=2, cost=0.25), **first)
    store.infer("c", **first)
    store.infer("d", status="failed", **first)
    store.infer("e", created_at="2026-03-02T00:00:00.000Z", memory="control")
    store.infer("f", task="chat")
    store.infer("g", tenant="beta")
    for inference_id, correct in (("a", True), ("b", False)):
        store.do(inferences.judge, tenant="acme", inference_id=inference_id, correct=correct)
    counts = store.see(inference_counts.count_by_day, tenant="acme", task="sql")
    nothing = {"right": 0, "wrong": 0, "failed": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
    assert counts == (
        DayCount(
            day="2026-03-01",
            memory="used",
            right=1,
            wrong=1,
            unknown=1,
            failed=1,
            tokens_in=30,
            tokens_out=3,
            cost=0.75,
            unpriced=2,
        ),
        DayCount(day="2026-03-02", memory="control", unknown=1, unpriced=1, **nothing),
    )
    later = store.see(inference_counts.count_by_day, tenant="acme", task="sql", since="2026-03-02")
    assert later == counts[1:]
