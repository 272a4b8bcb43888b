import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.prompting.reasoning import MARKER, split_reply

ANSWERS = {
    "a word": "tiger",
    "JSON": '{"answer": "the FINAL word: tiger"}',
    "SQL": "```sql\nSELECT name\nFROM animal\nWHERE legs = 4\n```",
    "code": "```python\n# FINAL ANSWER: below\nresult = df.groupby('a')['b'].sum()\n```",
}
MARKERS = {
    "as asked": "FINAL ANSWER:",
    "in lower case": "Final answer:",
    "bold": "**Final answer:**",
    "bold before the colon": "**FINAL ANSWER**:",
    "a heading": "### Final Answer:",
    "indented": "  FINAL ANSWER:",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("marker", MARKERS.values(), ids=MARKERS)
def test_the_answer_is_what_follows_the_marker(marker, answer):
    said = split_reply(f"Four legs.\nSo a tiger.\n{marker}\n{answer}\n")
    assert said.answer == answer
    assert said.rationale == "Four legs.\nSo a tiger."


def test_the_last_marker_counts():
    said = split_reply("FINAL ANSWER: lion\nNo, it has stripes.\nFINAL ANSWER: tiger")
    assert said.answer == "tiger"
    assert said.rationale == "FINAL ANSWER: lion\nNo, it has stripes."


def test_a_marker_within_a_line_counts_where_no_line_begins_with_one():
    said = split_reply("It has stripes, so FINAL ANSWER: tiger")
    assert (said.rationale, said.answer) == ("It has stripes, so", "tiger")
    spoken = "My final answer: I do not know"
    assert split_reply(spoken).answer == spoken


def test_without_a_marker_the_whole_reply_is_the_answer():
    said = split_reply("Reasoning: it has stripes.\ntiger")
    assert (said.rationale, said.answer) == ("", "Reasoning: it has stripes.\ntiger")


def test_nothing_behind_the_marker_is_an_empty_answer():
    assert split_reply("It has stripes.\nFINAL ANSWER:").answer == ""


def test_a_label_that_the_model_repeats_is_no_reasoning():
    assert split_reply("Reasoning: stripes.\nFINAL ANSWER: tiger").rationale == "stripes."
    assert split_reply("**Reasoning:** stripes.\nFINAL ANSWER: tiger").rationale == "stripes."


@given(reasoning=st.text(max_size=80), answer=st.text(max_size=40))
def test_what_was_put_together_is_taken_apart_again(reasoning, answer):
    if MARKER in answer or "final answer" in answer.lower() + reasoning.lower():
        return
    said = split_reply(f"{reasoning}\n{MARKER} {answer}")
    assert said.answer == answer.strip()
