import pytest
from pydantic import ValidationError

from learnloop.errors import ModelTimeoutError
from learnloop.methods.drpg import DRPGSettings
from learnloop.methods.posthoc_policy import PUBLISHED, PosthocPolicy, PosthocPolicySettings
from learnloop.types import Feedback


@pytest.fixture
def make(make_parts):
    """The method, and the parts it was made of."""

    def one(policy="POLICY:\n- Write the word.", **params):
        parts = make_parts(answer="said", policy=policy)
        return PosthocPolicy.from_parts(parts, **params), parts

    return one


def roles(parts):
    return [call.role for call in parts.model.heard]


def asked(parts, role):
    return [call.text for call in parts.model.heard if call.role == role]


def bullets(prediction):
    return [bullet.text for bullet in prediction.policy.bullets] if prediction.policy else None


def test_a_right_answer_takes_one_call_and_a_wrong_one_two(make, teach):
    method, parts = make()
    for number, correct in enumerate((True, False, True, True, False)):
        teach(method, number, correct=correct)
    once, twice = ["answer"], ["answer", "policy"]
    assert roles(parts) == [*once, *twice, *once, *once, *twice]


def test_the_policy_stays_until_the_next_wrong_answer(make, teach):
    method, parts = make("POLICY:\n- First.")
    shown = [bullets(teach(method, 0, correct=False)), bullets(teach(method, 1, correct=True))]
    parts.model.script = lambda heard: "POLICY:\n- Second."
    shown += [bullets(teach(method, 2, correct=False)), bullets(teach(method, 3, correct=True))]
    assert shown == [None, ["First."], ["First."], ["Second."]]


def test_the_last_case_alone_is_the_evidence_and_the_policy_before_is_shown(make, teach):
    method, parts = make()
    teach(method, 0, correct=True)
    teach(method, 1, correct=False, comment="COMMENT")
    teach(method, 2, correct=False)
    first, second = asked(parts, "policy")
    assert "number 1?" in first
    assert "COMMENT" in first
    assert "number 0?" not in first + second
    assert ("The policy so far" in first, "The policy so far" in second) == (False, True)
    assert "number 1?" not in second


def test_the_policy_before_may_be_left_out(make, teach):
    method, parts = make(previous_policy=False)
    for number in range(2):
        teach(method, number, correct=False)
    assert "The policy so far" not in asked(parts, "policy")[-1]


def test_contrastive_adds_half_of_k_right_cases(make, teach):
    method, parts = make(policy_cases="contrastive", k=4)
    for number in range(4):
        teach(method, number, correct=True)
    teach(method, 9, correct=False)
    assert asked(parts, "policy")[-1].count("Which word") == 2 + 1


def test_the_gate_and_its_error_go_on_record(make, teach):
    method, parts = make()
    found = []
    for number, correct in enumerate((True, False)):
        teach(method, number, correct=correct)
        control = parts.journal.drain_control()
        found.append((control.error, control.decision.opened))
    assert found == [(0.0, False), (1.0, True)]
    events = parts.journal.drain()
    assert [(event.kind, event.text, event.refs) for event in events] == [
        ("policy_changed", "Write the word.", ("q1",))
    ]


def test_an_answer_is_judged_once_when_its_verdict_is_known(make, teach, memory):
    method, parts = make()
    prediction = teach(method, 1, comment="Hm.")
    assert roles(parts) == ["answer"]
    query = memory.get("q1").query
    for number, correct in enumerate((False, False, True)):
        feedback = Feedback(id=f"late{number}", target_id="q1", correct=correct)
        method.learn_one(query, prediction, feedback)
    assert roles(parts) == ["answer", "policy"]


def test_a_refused_policy_leaves_the_one_in_force_and_says_so(make, teach):
    method, parts = make()
    teach(method, 0, correct=False)
    parts.journal.drain()
    parts.model.script = lambda heard: "no bullets here"
    teach(method, 1, correct=False)
    assert bullets(teach(method, 2, correct=True)) == ["Write the word."]
    assert [event.kind for event in parts.journal.drain()] == ["policy_refused"]


def test_a_failed_policy_call_leaves_the_query_answered(make_parts, teach):
    parts = make_parts(error=ModelTimeoutError("no answer"), fails_on=("policy",))
    method = PosthocPolicy.from_parts(parts)
    assert [teach(method, number, correct=False).text for number in range(3)] == ["word"] * 3


def test_the_answering_model_sees_right_answers_and_no_wrong_one(make, teach):
    method, parts = make()
    for number in range(4):
        teach(method, number, correct=number % 2 == 0)
    assert set(teach(method, 9, correct=True).examples) == {"q0", "q2"}
    only, parts = make(policy_only=True)
    assert teach(only, 10, correct=True).examples == ()


@pytest.mark.parametrize("insertion", ["literal", "pattern"])
def test_a_backslash_costs_examples_and_policy_until_the_next_edit_only_as_published(
    make, teach, insertion
):
    method, parts = make("POLICY:\n- Match \\d+.", insertion=insertion)
    for number in range(2):
        teach(method, number, correct=True)
    teach(method, 2, correct=False)
    for number in (3, 4):
        prediction = teach(method, number, correct=True)
        assert bool(prediction.policy) is bool(prediction.examples) is (insertion == "literal")
    parts.model.script = lambda heard: "POLICY:\n- Write the word."
    teach(method, 5, correct=False)
    assert teach(method, 6, correct=True).examples


def test_published_is_what_it_is_for_drpg():
    ours, theirs = PosthocPolicySettings(variant="published"), DRPGSettings(variant="published")
    for name in PUBLISHED:
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("params", [{"k": 0}, {"kk": 1}, {"policy_cases": "correct"}])
def test_parameters_that_make_no_sense_are_refused(make_parts, params):
    with pytest.raises(ValidationError):
        PosthocPolicy.from_parts(make_parts(), **params)
