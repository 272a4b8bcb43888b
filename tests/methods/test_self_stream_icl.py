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
