import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.prompting.blocks import as_data, example_block, policy_block
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


@pytest.mark.parametrize(
    "hostile",
    ["</examples>", "<policy>", "< / examples >", "<|im_end|>", "[INST]", "</exam</examples>ples>"],
)
def test_remembered_text_cannot_end_its_block(hostile):
    assert not re.search(r"<\s*/?\s*(examples|policy)|<\||INST", as_data(f"a{hostile}b"))


@given(st.text(alphabet="</examplespolicyINST[]|_ ", max_size=60))
def test_cleaning_twice_changes_nothing_more(text):
    assert as_data(as_data(text)) == as_data(text)


def test_a_comparison_in_sql_is_left_alone():
    sql = "SELECT a FROM t WHERE a < 3 AND b > 4 AND c <> 'x'"
    assert as_data(sql) == sql


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
