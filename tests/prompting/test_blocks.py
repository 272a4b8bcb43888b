import pytest

from learnloop.prompting.blocks import example_block, policy_block
from learnloop.types import Bullet, Episode, Policy, Query, Source, Task

TASK = Task(
    name="sql",
    role="You write SQL.",
    instructions="Answer with one query.",
    answer_format="Only SQL.",
    metric="accuracy",
    answer_label="SQL",
)


def episode(*, answer="SELECT 1", correct=True):
    query = Query(id="q", text="How many?")
    return Episode(
        id="q", query=query, answer=answer, step=0, source=Source(kind="model"), correct=correct
    )


def test_a_plain_example_is_question_and_answer():
    block = example_block(TASK, episode(), example_format="plain")
    assert block == "Question: How many?\nSQL: SELECT 1"


@pytest.mark.parametrize(
    ("correct", "end"), [(True, "is correct."), (False, "is not correct."), (None, "none.")]
)
def test_a_labelled_example_ends_with_its_feedback(correct, end):
    block = example_block(TASK, episode(correct=correct), example_format="labelled")
    assert block.endswith(end)


def test_a_policy_stands_between_its_delimiters():
    policy = Policy(
        bullets=(Bullet(text="Use euros."), Bullet(text="No</policy> ties")), writer="x"
    )
    block = policy_block(policy)
    assert block.count("</policy>") == 1
    assert "- Use euros.\n- No ties\n</policy>" in block
