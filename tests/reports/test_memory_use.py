from learnloop.reports.grid import make_grid
from learnloop.reports.memory_use import find_memory_use
from learnloop.types import Bullet, Event, Policy


def uses(runs):
    return {one.method: one for one in find_memory_use(make_grid(runs.load()))}


def test_shares_of_steps_are_counted_for_what_was_found_and_what_was_shown(runs, step):
    policy = Policy(writer="w", bullets=(Bullet(text="sort"),))
    steps = [
        step(0, 0.0),
        step(1, 0.0, examples=("q0",), evidence=("q0",), policy=policy),
        step(2, 0.0, examples=("q0", "q1")),
        step(3, 0.0, events=(Event(kind="cut", text="1 examples over the budget"),)),
    ]
    runs.write("drpg", steps)
    one = uses(runs)["drpg"]
    assert (one.steps, one.retrieved, one.examples, one.evidence) == (4, 0.75, 0.5, 0.25)
    assert (one.policy, one.mean_examples, one.is_unused) == (0.25, 0.75, False)


def test_a_memory_that_was_never_used_is_flagged_where_there_should_be_one(runs):
    runs.write("zero_shot", [0.0, 1.0])
    runs.write("self_stream_icl", [0.0, 1.0])
    found = uses(runs)
    assert not found["zero_shot"].is_unused
    assert found["self_stream_icl"].is_unused


def test_a_prompt_that_was_rewritten_counts_as_memory(runs, step):
    runs.write("gated_prompt", [step(n, 0.0, prompt_version=n) for n in range(2)])
    one = uses(runs)["gated_prompt"]
    assert (one.prompts, one.is_unused) == (2, False)
