import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.server.storage import feedback_log, inferences
from learnloop.server.storage.database import Database
from learnloop.types import Query


def logged(school, inference_id="i1"):
    found = school.see(feedback_log.of_inference, tenant="acme", inference_id=inference_id)
    return [each.feedback.id for each in reversed(found)]


def remembered(school, inference_id="i1", tenant="acme"):
    episode = school.learner_of(tenant, "sql").memory.get(inference_id)
    return None if episode is None else episode.correct


def test_feedback_is_durable_and_seen_by_the_next_request(school):
    school.infer("i1")
    answer = school.give({"id": "f1", "target_id": "i1", "correct": True})
    assert (answer.status_code, answer.json()["id"]) == (200, "f1")
    assert logged(school) == ["f1"]
    advice = school.learner_of("acme", "sql").method.advise(Query(id="next", text="How many?"))
    assert [example.id for example in advice.examples] == ["i1"]


def test_the_same_again_gets_the_same_answer_and_other_content_is_refused(school):
    school.infer("i1")
    said = {"id": "f1", "target_id": "i1", "value": 0.9}
    first, again = school.give(said), school.give(said)
    assert (again.status_code, again.content) == (200, first.content)
    other = school.give({**said, "value": 0.1})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")
    assert logged(school) == ["f1"]
    assert remembered(school) is True


def test_a_header_may_hold_the_id(school):
    school.infer("i1")
    said = {"inference_id": "i1", "metric_name": "ok", "value": True}
    answers = [school.give(said, headers={"idempotency-key": "k1"}) for _ in range(2)]
    assert [answer.json()["id"] for answer in answers] == ["k1", "k1"]
    assert logged(school) == ["k1"]


def test_without_an_id_the_server_makes_one_each_time(school):
    school.infer("i1")
    for right in (True, False, True):
        assert school.give({"target_id": "i1", "correct": right}).status_code == 200
    assert len(set(logged(school))) == 3
    assert remembered(school) is True


def test_a_revision_turns_what_is_remembered(school):
    school.infer("i1")
    school.give({"id": "f1", "target_id": "i1", "correct": True})
    school.give({"id": "f2", "target_id": "i1", "correct": False, "supersedes": "f1"})
    assert remembered(school) is False
    assert school.see(inferences.get, tenant="acme", inference_id="i1").correct is False


def test_nobody_can_speak_of_an_inference_that_is_not_theirs(school):
    school.infer("i1")
    for tenant, target in (("beta", "i1"), ("acme", "nothing")):
        answer = school.give({"target_id": target, "correct": False}, tenant=tenant)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert logged(school) == []
    assert remembered(school) is None


def test_a_list_is_kept_whole_or_not_at_all(school):
    school.infer("i1")
    school.infer("i2")
    good = [{"id": f"f{n}", "target_id": f"i{n}", "value": 1} for n in (1, 2)]
    bad = [good[0], {"target_id": "i2", "value": []}]
    refused = school.give(bad)
    assert refused.status_code == 422
    assert "feedback[1].value" in refused.json()["error"]["message"]
    assert school.give([good[0], {"target_id": "i3", "value": 1}]).status_code == 404
    assert logged(school) == []
    assert [each["id"] for each in school.give(good).json()["feedback"]] == ["f1", "f2"]
    assert school.give(good).json() == school.give(good).json()
    assert (logged(school), logged(school, "i2")) == (["f1"], ["f2"])


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"\xff", 400), (b"[]", 422), (b"3", 422), (b"null", 422), (b"[[]]", 422)],
)
def test_what_is_no_feedback_is_refused(school, body, status):
    assert school.client().post("/v1/feedback", content=body).status_code == status


def test_the_explanation_has_what_was_shown_and_said_for_its_own_tenant_alone(school):
    school.infer("i1", query="How many dogs?")
    school.infer("i2", examples=("i1",), prompt_version=3, memory="used")
    school.give({"id": "f1", "target_id": "i2", "correct": False, "comment": "Cats"})
    school.learn()
    told = school.client().get("/v1/inferences/i2").json()
    assert told["examples"] == [
        {
            "id": "i1",
            "inference_id": "i1",
            "query": "How many dogs?",
            "answer": "7",
            "correct": None,
        }
    ]
    assert (told["memory"], told["correct"], told["prompt"]) == ("used", False, {"version": 3})
    assert [(each["id"], each["comment"]) for each in told["feedback"]] == [("f1", "Cats")]
    assert told["learner"]["version"] == 1
    assert school.client("beta").get("/v1/inferences/i2").status_code == 404


SAID = st.tuples(
    st.integers(0, 5),
    st.sampled_from([True, False, None]),
    st.one_of(st.none(), st.integers(0, 5)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(SAID, max_size=12))
def test_any_sequence_of_feedback_ends_as_a_plain_list_says(embedder, make_any_school, sequence):
    with tempfile.TemporaryDirectory() as folder, Database(Path(folder) / "s.sqlite") as database:
        school = make_any_school(database, embedder)
        school.infer("i1")
        kept = {}
        for name, right, old in sequence:
            said = {"id": f"f{name}", "target_id": "i1", "correct": right, "comment": "x"}
            if old is not None and old != name:
                said["supersedes"] = f"f{old}"
            fits = kept.setdefault(name, said) == said
            assert school.give(said).status_code == (200 if fits else 409)
        replaced = {said.get("supersedes") for said in kept.values()}
        views = [
            said["correct"]
            for said in kept.values()
            if said["id"] not in replaced and said["correct"] is not None
        ]
        assert logged(school) == [said["id"] for said in kept.values()]
        assert remembered(school) is (views[-1] if views else None)
