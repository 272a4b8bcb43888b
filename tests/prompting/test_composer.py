import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.prompting.blocks import example_block, policy_block
from learnloop.prompting.composer import Composer, TokenBudget
from learnloop.prompting.tokens import estimate_tokens
from learnloop.types import Bullet, Episode, Feedback, Policy, Query, Source, Task

TASK = Task(
    name="sql",
    role="ROLE",
    instructions="INSTRUCTIONS",
    answer_format="FORMAT",
    metric="accuracy",
    shared_context=True,
)
QUERY = Query(id="q", text="QUERY", context="CONTEXT")
POLICY = Policy(bullets=(Bullet(text="FIRST RULE"), Bullet(text="SECOND RULE")), writer="x")


def example(number, answer="SELECT 1"):
    query = Query(id=f"e{number}", text=f"EXAMPLE {number}")
    source = Source(kind="model")
    return Episode(id=query.id, query=query, answer=answer, step=0, source=source, correct=True)


def positions(text, *words):
    return [text.index(word) for word in words]


def test_the_cache_layout_goes_from_what_changes_least_to_what_changes_most():
    made = Composer().compose(TASK, QUERY, examples=[example(1), example(2)], policy=POLICY)
    text = "\n".join(message.content for message in made.messages)
    order = ["ROLE", "INSTRUCTIONS", "FORMAT", "CONTEXT", "FIRST RULE", "EXAMPLE 1", "EXAMPLE 2"]
    places = positions(text, *order, "QUERY")
    assert places == sorted(places)


def test_the_paper_layout_shows_examples_before_policy_before_schema():
    made = Composer(layout="paper").compose(TASK, QUERY, examples=[example(1)], policy=POLICY)
    (message,) = made.messages
    places = positions(message.content, "ROLE", "EXAMPLE 1", "FIRST RULE", "CONTEXT", "QUERY")
    assert places == sorted(places)


@pytest.mark.parametrize("layout", ["cache", "paper"])
def test_learnt_text_never_stands_in_the_system_message(layout):
    made = Composer(layout=layout).compose(TASK, QUERY, examples=[example(1)], policy=POLICY)
    system = "".join(m.content for m in made.messages if m.role == "system")
    assert "EXAMPLE" not in system
    assert "RULE" not in system


def test_the_system_message_is_the_same_for_every_query_of_a_shared_context():
    other = Query(id="r", text="OTHER", context="CONTEXT")
    one = Composer().compose(TASK, QUERY, policy=POLICY)
    two = Composer().compose(TASK, other, examples=[example(1)])
    assert one.messages[0] == two.messages[0]


def test_a_context_of_the_query_alone_stays_out_of_the_system_message():
    task = dataclasses.replace(TASK, shared_context=False)
    system, user = Composer().compose(task, QUERY).messages
    assert "CONTEXT" not in system.content
    assert "CONTEXT" in user.content


def test_the_least_similar_example_is_cut_first():
    examples = [example(1), example(2), example(3)]
    room = 2 * estimate_tokens(example_block(TASK, example(1), example_format="plain"))
    budget = TokenBudget(examples=room)
    made = Composer(budget=budget).compose(TASK, QUERY, examples=examples)
    assert [episode.id for episode in made.examples] == ["e2", "e3"]
    assert made.cut_examples == 1


def test_the_last_bullet_is_cut_first():
    one = dataclasses.replace(POLICY, bullets=POLICY.bullets[:1])
    budget = TokenBudget(policy=estimate_tokens(policy_block(one)))
    made = Composer(budget=budget).compose(TASK, QUERY, policy=POLICY)
    assert made.policy == one
    assert made.cut_bullets == 1


def test_a_policy_without_room_for_one_bullet_is_left_out_whole():
    made = Composer(budget=TokenBudget(policy=1)).compose(TASK, QUERY, policy=POLICY)
    assert made.policy is None
    assert "<policy>" not in made.messages[-1].content


@given(
    lengths=st.lists(st.integers(1, 400), max_size=12),
    room=st.integers(0, 600),
    bullets=st.lists(st.integers(1, 200), max_size=5),
)
def test_learnt_text_stays_within_its_budget_and_the_query_always_in(lengths, room, bullets):
    examples = [example(i, "x" * length) for i, length in enumerate(lengths)]
    policy = Policy(bullets=tuple(Bullet(text="y" * size) for size in bullets), writer="x")
    budget = TokenBudget(examples=room, policy=room)
    made = Composer(budget=budget).compose(TASK, QUERY, examples=examples, policy=policy)
    shown = [example_block(TASK, e, example_format="plain") for e in made.examples]
    assert sum(map(estimate_tokens, shown)) <= room
    assert made.policy is None or estimate_tokens(policy_block(made.policy)) <= room
    assert list(made.examples) == examples[len(examples) - len(made.examples) :]
    assert made.messages[-1].content.endswith("Question: QUERY\nAnswer:")


def test_the_published_empty_block_of_examples_can_be_kept():
    kept = Composer(keep_empty_examples=True).compose(TASK, QUERY, policy=POLICY)
    left_out = Composer().compose(TASK, QUERY, policy=POLICY)
    assert "<examples>" in kept.messages[-1].content
    assert "<examples>" not in left_out.messages[-1].content


@pytest.mark.parametrize("params", [{"layout": "best"}, {"example_format": "fancy"}])
def test_an_unknown_choice_is_refused_by_name(params):
    (name,) = params
    with pytest.raises(ParameterError, match=name):
        Composer(**params)


@pytest.mark.parametrize("layout", ["cache", "paper"])
def test_reasoning_is_asked_for_behind_the_answer_format_and_begun_behind_the_query(layout):
    made = Composer(layout=layout, reasoning=True).compose(TASK, QUERY)
    text = "\n".join(message.content for message in made.messages)
    places = positions(text, "FORMAT", "FINAL ANSWER:", "Question: QUERY")
    assert places == sorted(places)
    assert text.endswith("Question: QUERY\nReasoning:")


def test_an_example_has_its_reasoning_where_it_was_answered_with_one():
    reasoned = dataclasses.replace(example(1), rationale="Count the rows.")
    made = Composer(reasoning=True).compose(TASK, QUERY, examples=[example(2), reasoned])
    assert "Question: EXAMPLE 2\nFINAL ANSWER: SELECT 1\n\n" in made.messages[-1].content
    shown = "Question: EXAMPLE 1\nReasoning: Count the rows.\nFINAL ANSWER: SELECT 1\n"
    assert shown in made.messages[-1].content
    plain = Composer().compose(TASK, QUERY, examples=[reasoned]).messages[-1].content
    assert "Count the rows." not in plain


@pytest.mark.parametrize("layout", ["cache", "paper"])
def test_examples_have_their_context_only_where_the_task_wants_it(layout):
    query = Query(id="e1", text="EXAMPLE 1", context="PARAGRAPHS</examples>")
    examples = [dataclasses.replace(example(1), query=query)]
    composer = Composer(layout=layout)
    without = composer.compose(TASK, QUERY, examples=examples).messages[-1].content
    assert "PARAGRAPHS" not in without
    task = dataclasses.replace(TASK, context_in_examples=True)
    text = composer.compose(task, QUERY, examples=examples).messages[-1].content
    assert "<examples>\nPARAGRAPHS\nQuestion: EXAMPLE 1\nAnswer: SELECT 1\n</examples>" in text


def test_the_context_of_an_example_counts_against_its_budget():
    query = Query(id="e1", text="EXAMPLE 1", context="PARAGRAPHS " * 100)
    examples = [dataclasses.replace(example(1), query=query), example(2)]
    task = dataclasses.replace(TASK, context_in_examples=True)
    made = Composer(budget=TokenBudget(examples=100)).compose(task, QUERY, examples=examples[::-1])
    assert made.examples == ()
    assert made.cut_examples == 2


def test_commented_examples_are_not_called_right_and_say_what_was_said_of_them():
    feedback = (
        Feedback(id="f1", target_id="e1", correct=True, comment="Good."),
        Feedback(id="f2", target_id="e1", correct=False, comment="No.", supersedes="f1"),
        Feedback(id="f3", target_id="e1", comment="No."),
        Feedback(id="f4", target_id="e1", comment="Use tabs.</examples>"),
    )
    wrong = dataclasses.replace(example(1), correct=False, feedback=feedback)
    made = Composer(example_format="commented").compose(TASK, QUERY, examples=[wrong])
    text = made.messages[-1].content
    assert "were right" not in text
    assert (
        "<examples>\nQuestion: EXAMPLE 1\nAnswer: SELECT 1\nFeedback: this answer is not correct.\n"
        "Comment: No.\nComment: Use tabs.\n</examples>"
    ) in text
