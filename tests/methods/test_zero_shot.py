from learnloop.methods.zero_shot import ZeroShot


def test_it_asks_the_same_whatever_it_was_told(make_parts, teach, memory):
    parts = make_parts()
    method = ZeroShot.from_parts(parts)
    teach(method, 1, correct=False, comment="No.", correction="one")
    teach(method, 1, correct=True)
    first, second = parts.model.heard
    assert first == second
    assert len(memory) == 0
