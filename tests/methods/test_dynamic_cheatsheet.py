import pytest
from pydantic import ValidationError

from learnloop.errors import ModelTimeoutError
from learnloop.methods.dynamic_cheatsheet import DynamicCheatsheet
from learnloop.types import Feedback

VARIANTS = ("cumulative", "retrieval_synthesis")


def sheet_of(*entries):
    return "<cheatsheet>\n" + "\n".join(f"- {entry}" for entry in entries) + "\n</cheatsheet>"


@pytest.fixture
def make(make_parts):
    """A Dynamic Cheatsheet, and the parts it was made of."""

    def one(sheet=None, **params):
        parts = make_parts(policy=sheet or sheet_of("Write the word."))
        return DynamicCheatsheet.from_parts(parts, **params), parts

    return one


def roles(parts):
    return [call.role for call in parts.model.heard]


def asked(parts, role):
    return [call.text for call in parts.model.heard if call.role == role]


def entries(prediction):
    return [bullet.text for bullet in prediction.policy.bullets] if prediction.policy else None


def test_cumulative_answers_with_the_sheet_and_then_has_it_rewritten(make, teach):
    method, parts = make()
    first = teach(method, 1, correct=True)
    second = teach(method, 2, correct=True)
    assert roles(parts) == ["answer", "policy"] * 2
    assert (entries(first), entries(second)) == (None, ["Write the word."])
    assert "Which word is number 1?" in asked(parts, "policy")[0]
    assert "- Write the word." in asked(parts, "policy")[1]


def test_retrieval_synthesis_has_the_sheet_written_and_then_answers_with_it(make, teach):
    method, parts = make(variant="retrieval_synthesis")
    first = teach(method, 1, correct=True)
    second = teach(method, 2, correct=True)
    assert roles(parts) == ["answer", "policy", "answer"]
    assert (first.policy, first.evidence) == (None, ())
    assert (entries(second), second.evidence) == (["Write the word."], ("q1",))
    assert "Which word is number 2?" in asked(parts, "policy")[0]


@pytest.mark.parametrize(("params", "found"), [({}, 3), ({"k": 1}, 1)])
def test_retrieval_synthesis_shows_the_curator_the_most_similar_whatever_their_outcome(
    make, teach, params, found
):
    method, _ = make(variant="retrieval_synthesis", **params)
    for number, correct in enumerate((True, False, None, False)):
        last = teach(method, number, correct=correct)
    assert len(last.evidence) == found
    assert last.examples == ()


def test_a_past_answer_reaches_the_answering_model_only_through_the_sheet(make_parts, teach):
    parts = make_parts(answer="mistake", policy=sheet_of("Write the word."))
    method = DynamicCheatsheet.from_parts(parts, variant="retrieval_synthesis")
    for number in range(3):
        teach(method, number, correct=False)
    assert "mistake" in asked(parts, "policy")[-1]
    assert not [text for text in asked(parts, "answer") if "mistake" in text]


@pytest.mark.parametrize("variant", VARIANTS)
def test_asking_changes_nothing(make, teach, memory, variant):
    method, _ = make(variant=variant)
    for number in range(3):
        teach(method, number, correct=True)
    query, before = memory.get("q1").query, method._sheet
    assert method.predict_one(query) == method.predict_one(query)
    assert method._sheet is before


def test_the_sheet_of_retrieval_synthesis_comes_into_force_when_it_is_learnt_from(make, teach):
    method, parts = make(sheet_of("First sheet."), variant="retrieval_synthesis")
    teach(method, 1, correct=True)
    teach(method, 2, correct=True)
    parts.model.script = lambda heard: "word"  # no sheet from now on
    assert entries(teach(method, 3, correct=True)) == ["First sheet."]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sheet_without_tags_leaves_the_one_in_force_and_says_so(make, teach, variant):
    method, parts = make(variant=variant)
    for number in range(2):
        teach(method, number, correct=True)
    parts.journal.drain()
    parts.model.script = lambda heard: "- no tags"
    for number in (2, 3):
        assert entries(teach(method, number, correct=True)) == ["Write the word."]
    events = parts.journal.drain()
    assert {(event.kind, event.text) for event in events} == {
        ("policy_refused", "no text between cheatsheet tags")
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_failed_curator_leaves_every_query_answered(make_parts, teach, variant):
    parts = make_parts(error=ModelTimeoutError("no answer"), fails_on=("policy",))
    method = DynamicCheatsheet.from_parts(parts, variant=variant)
    assert [teach(method, number, correct=False).text for number in range(3)] == ["word"] * 3
    assert {event.text for event in parts.journal.drain()} == {"call failed: ModelTimeoutError"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_feedback_that_comes_again_changes_nothing(make, teach, memory, variant):
    method, parts = make(variant=variant)
    prediction = teach(method, 1, correct=True)
    calls, sheet = len(parts.model.heard), method._sheet
    query = memory.get("q1").query
    method.learn_one(query, prediction, Feedback(id="more", target_id="q1", correct=False))
    assert (len(parts.model.heard), method._sheet, len(memory)) == (calls, sheet, 1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_memory_holds_no_word_of_the_feedback(make, teach, memory, variant):
    method, _ = make(variant=variant)
    teach(method, 1, correct=False, comment="COMMENT", correction="CORRECTION")
    assert len(memory) == 1
    assert (memory.get("q1").correct, memory.get("q1").feedback) == (None, ())


def test_the_curator_may_write_twice_as_much_as_the_answering_model(make_parts):
    parts = make_parts()
    assert DynamicCheatsheet.from_parts(parts, max_tokens=300).curator.max_tokens == 600
    method = DynamicCheatsheet.from_parts(parts, max_tokens=300, curator_tokens=900)
    assert method.curator.max_tokens == 900


def test_a_sheet_within_its_budget_is_shown_whole_and_one_over_it_is_cut_once(make, teach):
    # An entry of 30 bytes with its mark and line break is 33 bytes: about 10.3 estimated tokens.
    method, parts = make(sheet_of(*(f"{n:02}" + "x" * 28 for n in range(20))), sheet_budget=52)
    teach(method, 1, correct=True)
    assert len(entries(teach(method, 2, correct=True))) == 5
    kinds = {event.kind: event.text for event in parts.journal.drain()}
    assert kinds == {"bullets_refused": "15 over the budget"}


def test_the_curator_sees_the_reasoning_where_there_is_any(make_parts, teach):
    parts = make_parts(answer="Reasoning: BECAUSE\nFINAL ANSWER: word", policy=sheet_of("x"))
    method = DynamicCheatsheet.from_parts(parts, reasoning=True)
    assert teach(method, 1, correct=True).text == "word"
    assert "Reasoning: BECAUSE" in asked(parts, "policy")[0]


@pytest.mark.parametrize("params", [{"k": 0}, {"variant": "full"}, {"sheet_budget": 0}])
def test_parameters_that_make_no_sense_are_refused(make_parts, params):
    with pytest.raises(ValidationError):
        DynamicCheatsheet.from_parts(make_parts(), **params)
