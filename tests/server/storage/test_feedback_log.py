from dataclasses import replace

import pytest

from learnloop.errors import ConflictError, UnknownEpisodeError
from learnloop.server.storage import feedback_log, inferences
from learnloop.types import Feedback, Source

AT = "2026-03-01T10:00:00.000Z"
WRONG = Feedback(
    id="f1",
    target_id="i1",
    correct=False,
    value=0.25,
    comment="Cents — not euros",
    source=Source(kind="user", id="u1"),
    event_time="2026-02-01",
)


def insert(store, feedback, *, tenant="acme", at=AT):
    return store.do(feedback_log.insert, tenant=tenant, feedback=feedback, received_at=at)


def verdict(store, inference_id="i1"):
    return store.see(inferences.get, tenant="acme", inference_id=inference_id).correct


def test_the_same_feedback_twice_is_one(store):
    store.infer("i1")
    assert insert(store, WRONG)
    assert not insert(store, WRONG, at="later")
    (logged,) = store.see(feedback_log.of_inference, tenant="acme", inference_id="i1")
    assert logged.feedback == WRONG
    assert (logged.received_at, logged.task, logged.reflected_at) == (AT, "sql", None)


@pytest.mark.parametrize("change", [{"comment": "Other"}, {"correct": None}, {"value": 0.26}])
def test_other_feedback_under_the_same_id_is_refused(store, change):
    store.infer("i1")
    insert(store, WRONG)
    with pytest.raises(ConflictError, match="supersedes"):
        insert(store, replace(WRONG, **change))
    assert store.see(feedback_log.get, tenant="acme", feedback_id="f1").feedback == WRONG


def test_feedback_on_nothing_is_refused(store):
    with pytest.raises(UnknownEpisodeError):
        insert(store, WRONG)
    store.infer("i1", tenant="beta")
    with pytest.raises(UnknownEpisodeError):
        insert(store, WRONG)


def test_a_revision_changes_the_verdict_and_both_stay(store):
    store.infer("i1")
    insert(store, WRONG)
    assert verdict(store) is False
    insert(store, Feedback(id="f2", target_id="i1", correct=True, supersedes="f1"))
    assert verdict(store) is True
    logged = store.see(feedback_log.of_inference, tenant="acme", inference_id="i1")
    assert [(each.feedback.id, each.superseded_by) for each in logged] == [
        ("f2", None),
        ("f1", "f2"),
    ]


def test_a_revision_that_has_no_view_takes_the_verdict_back(store):
    store.infer("i1")
    insert(store, WRONG)
    insert(store, Feedback(id="f2", target_id="i1", supersedes="f1"))
    assert verdict(store) is None


def test_feedback_supersedes_only_what_is_on_the_same_answer(store):
    store.infer("i1")
    store.infer("i2")
    insert(store, WRONG)
    with pytest.raises(ConflictError, match="'i1'"):
        insert(store, Feedback(id="f2", target_id="i2", supersedes="f1"))
    assert verdict(store, "i2") is None


def test_tenants_may_use_the_same_ids_and_see_their_own(store):
    store.infer("i1")
    store.infer("i1", tenant="beta")
    insert(store, WRONG)
    insert(store, replace(WRONG, correct=True), tenant="beta")
    assert store.see(feedback_log.get, tenant="acme", feedback_id="f1").feedback == WRONG
    assert verdict(store) is False
    assert len(store.see(feedback_log.page, tenant="beta").items) == 1


def test_what_is_not_learnt_from_waits_in_order(store):
    store.infer("i1")
    store.infer("i2", task="chat")
    for n in range(4):
        insert(store, Feedback(id=f"f{n}", target_id="i1"))
    insert(store, Feedback(id="g", target_id="i2"))
    waiting = {"tenant": "acme", "task": "sql"}
    marked = {"tenant": "acme", "feedback_ids": ("f0", "f2", "nothing"), "at": AT}
    assert store.do(feedback_log.mark_reflected, **marked) == 2
    assert store.do(feedback_log.mark_reflected, **marked) == 0
    left = store.see(feedback_log.unreflected, **waiting)
    assert [each.feedback.id for each in left] == ["f1", "f3"]
    assert store.see(feedback_log.count_unreflected, **waiting) == 2
    assert store.see(feedback_log.unreflected, tenant="beta", task="sql") == ()


def test_a_list_of_feedback_has_pages(store):
    store.infer("i1")
    for n in range(3):
        insert(store, Feedback(id=f"f{n}", target_id="i1"))
    first = store.see(feedback_log.page, tenant="acme", task="sql", limit=2)
    rest = store.see(feedback_log.page, tenant="acme", cursor=first.next_cursor, limit=2)
    assert [each.feedback.id for each in (*first.items, *rest.items)] == ["f2", "f1", "f0"]
    assert rest.next_cursor is None
