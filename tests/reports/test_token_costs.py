import pytest

from learnloop.records.schema import CallRecord
from learnloop.reports.grid import make_grid
from learnloop.reports.token_costs import count_tokens


def calls(*each):
    return tuple(
        CallRecord(role=role, model="m", tokens_in=read, tokens_out=written)
        for role, read, written in each
    )


@pytest.fixture
def costs(runs, step):
    """Return the costs of three methods on four queries; one is dearer and right twice more."""
    few, more = calls(("answer", 10, 2)), calls(("policy", 20, 30), ("answer", 15, 3))
    runs.write("zero_shot", [step(n, float(n == 0), calls=few) for n in range(4)])
    runs.write("self_stream_icl", [step(n, 0.0, calls=few) for n in range(4)])
    runs.write("drpg", [step(n, float(n < 3), calls=more) for n in range(4)])
    return {one.method: one for one in count_tokens(make_grid(runs.load()))}


def test_tokens_are_those_of_all_roles_a_query(costs):
    one = costs["drpg"]
    assert (one.calls, one.tokens_in, one.tokens_out) == (2.0, 35.0, 33.0)
    assert one.tokens_cached == 80.0  # 40 a call, by the clock of these runs
    assert {role: (use.tokens_in, use.tokens_out) for role, use in one.roles.items()} == {
        "policy": (20.0, 30.0),
        "answer": (15.0, 3.0),
    }


def test_an_extra_right_answer_costs_what_was_spent_beyond_the_reference(costs):
    one = costs["drpg"].over("zero_shot")
    assert one.gain == 0.5
    assert one.tokens == 4 * (35 + 33 - 10 - 2) / 2
    assert one.written == 4 * (33 - 2) / 2


def test_without_a_gain_there_is_no_price(costs):
    one = costs["self_stream_icl"].over("zero_shot")
    assert (one.gain, one.tokens, one.written) == (-0.25, None, None)
    assert costs["zero_shot"].over("zero_shot") is None
