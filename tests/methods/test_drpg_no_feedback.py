import pytest
from pydantic import ValidationError

from learnloop.errors import ModelTimeoutError
from learnloop.methods.drpg import DRPGSettings
from learnloop.methods.drpg_no_feedback import PUBLISHED, DRPGNoFeedback, DRPGNoFeedbackSettings


@pytest.fixture
def taught(make_parts, teach):
    """A method that was asked four queries, and the parts it was made of."""

    def make(*, answer="said", policy="POLICY:\n- Write the word.", **params):
        parts = make_parts(answer=answer, policy=policy)
        method = DRPGNoFeedback.from_parts(parts, **params)
        for number in range(4):
            teach(method, number, correct=number % 2 == 0, comment="Comment.")
        return method, parts

    return make


def asked(parts, role):
    return [call.text for call in parts.model.heard if call.role == role]


def bullets(prediction):
    return [bullet.text for bullet in prediction.policy.bullets] if prediction.policy else None


def test_both_models_see_similar_answers_whatever_became_of_them(taught, teach):
    method, _ = taught()
    prediction = teach(method, 9, correct=True)
    assert set(prediction.examples) == set(prediction.evidence) == {"q0", "q1", "q2", "q3"}
    assert bullets(prediction) == ["Write the word."]


def test_no_word_says_whether_an_example_was_right(taught, teach):
    method, parts = taught()
    teach(method, 9, correct=True)
    text = f"{asked(parts, 'answer')[-1]} {asked(parts, 'policy')[-1]}".lower()
    assert "nobody has judged" in text
    for word in ("wrong", "right", "correct", "feedback", "complaint", "comment"):
        assert word not in text


def test_the_first_query_makes_one_call_and_the_others_two(taught):
    _, parts = taught()
    roles = [call.role for call in parts.model.heard]
    assert roles == ["answer", *["policy", "answer"] * 3]


@pytest.mark.parametrize(("cases", "seen"), [(None, 3), (1, 1), (9, 3)])
def test_the_policy_writer_sees_the_most_similar_of_them(taught, teach, cases, seen):
    method, _ = taught(k=3, policy_cases=cases)
    prediction = teach(method, 9, correct=True)
    assert len(prediction.examples) == 3
    assert prediction.evidence == prediction.examples[-seen:]


def test_policy_only_shows_the_policy_and_no_examples(taught, teach):
    method, parts = taught(policy_only=True)
    assert teach(method, 9, correct=True).examples == ()
    assert "<examples>" not in asked(parts, "answer")[-1]


@pytest.mark.parametrize("previous", [True, False])
def test_the_policy_before_is_shown_only_where_asked_for(taught, teach, previous):
    method, parts = taught(previous_policy=previous)
    teach(method, 9, correct=True)
    assert ("The policy so far" in asked(parts, "policy")[-1]) is previous


def test_a_refused_policy_leaves_the_one_in_force_and_says_so(taught, teach):
    method, parts = taught()
    parts.journal.drain()
    parts.model.script = lambda heard: "no bullets here"
    assert bullets(teach(method, 9, correct=True)) == ["Write the word."]
    assert [event.kind for event in parts.journal.drain()] == ["policy_refused"]


def test_a_failed_policy_call_leaves_the_query_answered(make_parts, teach):
    parts = make_parts(error=ModelTimeoutError("no answer"), fails_on=("policy",))
    method = DRPGNoFeedback.from_parts(parts)
    assert [teach(method, number, correct=False).text for number in range(3)] == ["word"] * 3


@pytest.mark.parametrize("insertion", ["literal", "pattern"])
def test_a_backslash_costs_examples_and_policy_only_as_published(taught, teach, insertion):
    method, _ = taught(policy="POLICY:\n- Match \\d+.", insertion=insertion)
    prediction = teach(method, 9, correct=True)
    assert bool(prediction.policy) is bool(prediction.examples) is (insertion == "literal")


def test_published_is_what_it_is_for_drpg():
    ours = DRPGNoFeedbackSettings(variant="published")
    theirs = DRPGSettings(variant="published")
    for name in PUBLISHED:
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("params", [{"k": 0}, {"kk": 1}, {"policy_cases": "wrong"}])
def test_parameters_that_make_no_sense_are_refused(make_parts, params):
    with pytest.raises(ValidationError):
        DRPGNoFeedback.from_parts(make_parts(), **params)
