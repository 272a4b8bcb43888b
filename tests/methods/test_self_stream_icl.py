from learnloop.methods.self_stream_icl import SelfStreamICL


def test_it_shows_right_answers_and_corrections_and_no_wrong_answer(make_parts, teach):
    parts = make_parts(answer="said")
    method = SelfStreamICL.from_parts(parts)
    teach(method, 1, correct=True)
    teach(method, 2, correct=False, correction="corrected")
    teach(method, 3, correct=False)
    assert set(teach(method, 4, correct=True).examples) == {"q1", "q2:correction"}
    assert "corrected" in parts.model.heard[-1].text


def test_it_shows_no_more_than_k(make_parts, teach):
    method = SelfStreamICL.from_parts(make_parts(), k=2)
    shown = [len(teach(method, number, correct=True).examples) for number in range(5)]
    assert shown == [0, 1, 2, 2, 2]


def test_it_makes_one_call_a_query(make_parts, teach):
    parts = make_parts()
    method = SelfStreamICL.from_parts(parts)
    for number in range(4):
        teach(method, number, correct=number % 2 == 0, comment="No.")
    assert len(parts.model.heard) == 4


def test_with_rationale_examples_have_the_reasoning_they_were_answered_with(make_parts, teach):
    parts = make_parts(answer="Count the legs.\nFINAL ANSWER: tiger")
    method = SelfStreamICL.from_parts(parts, rationale=True)
    first = teach(method, 1, correct=True)
    assert (first.text, first.rationale) == ("tiger", "Count the legs.")
    teach(method, 2, correct=False, correction="zebra")
    assert set(teach(method, 3).examples) == {"q1", "q2:correction"}
    text = parts.model.heard[-1].text
    shown = "Question: Which word is number 1?\nReasoning: Count the legs.\nFINAL ANSWER: tiger\n"
    assert shown in text
    assert "Question: Which word is number 2?\nFINAL ANSWER: zebra\n" in text
    assert text.endswith("\nReasoning:")


def test_reasoning_has_room_unless_told_otherwise():
    settings = SelfStreamICL.Settings
    assert settings().max_tokens == 256
    assert settings(rationale=True).max_tokens == 768
    assert settings(rationale=True, max_tokens=100).max_tokens == 100
