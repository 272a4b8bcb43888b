import pytest

from learnloop.errors import StoreError
from learnloop.states import State
from learnloop.types import Prompt


class Known(State):
    prompts: tuple[Prompt, ...]


def test_a_state_comes_back_as_it_was():
    state = Known(prompts=(Prompt(version=3, text="a\u2028b", parent=1),))
    assert state.written() == {
        "version": 1,
        "prompts": [{"version": 3, "text": "a\u2028b", "parent": 1}],
    }
    assert Known.read(state.written()) == state


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"version": 2, "prompts": []}, "version"),
        ({"version": 1}, "prompts"),
        ({"version": 1, "prompts": [{"text": 1}]}, "prompts"),
        ({"version": 1, "prompts": [], "other": 1}, "other"),
    ],
)
def test_a_state_that_cannot_be_read_says_where(given, place):
    with pytest.raises(StoreError, match=f"cannot be read: {place}"):
        Known.read(given)
