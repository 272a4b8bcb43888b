from hypothesis import given
from hypothesis import strategies as st

from learnloop.prompting.tokens import estimate_tokens


def test_thirty_two_bytes_are_ten_tokens():
    # 32 bytes at 3.2 bytes a token
    assert estimate_tokens("a" * 32) == 10


def test_letters_of_several_bytes_count_as_such():
    assert estimate_tokens("ä" * 16) == estimate_tokens("a" * 32)


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text, more):
    assert estimate_tokens(text + more) >= estimate_tokens(text)
