import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.llm.thinking import split_thinking, thinking_tokens

PLAIN = st.text(alphabet="abc <>/\n", max_size=30).filter(lambda text: "think>" not in text)


@pytest.mark.parametrize(
    ("text", "thinking", "said"),
    [
        ("no thought", "", "no thought"),
        ("<think>a</think>b", "a", "b"),
        ("a</think>\n\nb", "a", "b"),
        ("<think>never closed", "never closed", ""),
        ("<think>a</think>b<think>c</think>d", "ac", "bd"),
        ("<think></think>b", "", "b"),
    ],
)
def test_thinking_is_taken_out(text: str, thinking: str, said: str) -> None:
    assert split_thinking(text) == (thinking, said)


@given(PLAIN, PLAIN)
def test_thinking_and_text_are_told_apart_whatever_they_hold(thinking: str, said: str) -> None:
    assert split_thinking(f"<think>{thinking}</think>{said}") == (thinking, said.strip())


@given(PLAIN)
def test_text_without_thinking_stays_as_it_is(text: str) -> None:
    assert split_thinking(text) == ("", text)


@given(PLAIN, PLAIN, st.integers(0, 10_000))
def test_the_estimate_is_never_more_than_was_written(
    thinking: str, said: str, tokens_out: int
) -> None:
    assert 0 <= thinking_tokens(thinking, said, tokens_out) <= tokens_out


def test_nothing_written_is_nothing_thought() -> None:
    assert thinking_tokens("", "", 5) == 0
