import pytest

from learnloop.editing.case_writer import CaseWriter
from learnloop.editing.drafting import PolicyStyle
from learnloop.editing.neutral import NEUTRAL
from learnloop.llm.scripted import Scripted
from learnloop.types import Bullet, Policy, Query

QUERY = Query(id="now", text="How many customers?")


@pytest.fixture
def ask(task):
    """Writes a policy from the evidence and returns the draft and the text that the model read."""

    def write(*evidence, previous=None, **style):
        seen = []

        def listen(messages, options):
            seen.extend(message.content for message in messages)
            return "POLICY:\n- Use euros."

        writer = CaseWriter(
            model=Scripted(listen), task=task, wording=NEUTRAL, style=PolicyStyle(**style)
        )
        draft = writer.write(QUERY, evidence=evidence, previous=previous)
        return draft, "\n".join(seen)

    return write


@pytest.mark.parametrize("prompt", ["drpg", "leap"])
def test_what_a_model_reads_does_not_depend_on_any_feedback(ask, make_episode, prompt):
    texts = {
        ask(
            make_episode("a", correct=correct, comment=comment, correction=comment),
            make_episode("b", correct=not correct),
            prompt=prompt,
        )[1]
        for correct, comment in ((True, None), (False, "COMMENT"), (False, None))
    }
    assert len(texts) == 1
    assert not {"wrong", "right", "correct", "feedback"} & set(texts.pop().lower().split())


def test_the_cases_stand_in_the_order_given(ask, make_episode):
    draft, text = ask(make_episode("FIRST"), make_episode("SECOND"))
    assert text.index("FIRST") < text.index("SECOND")
    assert draft.policy.bullets == (Bullet(text="Use euros.", sources=("FIRST", "SECOND")),)
    assert draft.policy.writer == "neutral"


def test_without_cases_no_call_is_made(ask):
    draft, text = ask()
    assert (draft.policy, draft.refused, text) == (None, False, "")


def test_the_policy_before_is_shown_where_it_is_given(ask, make_episode):
    previous = Policy(bullets=(Bullet(text="OLD BULLET"),), writer="neutral")
    assert "OLD BULLET" in ask(make_episode("a"), previous=previous)[1]
