import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.editing.prompt_history import KEPT, PromptHistory
from learnloop.errors import ParameterError
from learnloop.types import Prompt

ACTS = st.lists(st.tuples(st.booleans(), st.text(max_size=8), st.integers(0, 100)), max_size=20)


def test_a_new_history_has_one_version():
    history = PromptHistory("even: Red")
    assert history.current == Prompt(version=0, text="even: Red", parent=None)
    assert history.earlier() == []
    assert [(v.prompt.version, v.cause) for v in history.versions] == [(0, "initial")]


@given(acts=ACTS)
def test_a_version_never_changes_and_each_has_the_one_before_as_parent(acts):
    history = PromptHistory("first")
    before = history.versions
    for restores, text, number in acts:
        if restores:
            wanted = history.get(number % len(before))
            made = history.restore(wanted.version, cause="roll_back")
            assert made.text == wanted.text
        else:
            made = history.deploy(text, cause="edit")
            assert made.text == text
        assert history.versions[:-1] == before
        assert (made.version, made.parent) == (len(before), len(before) - 1)
        assert history.current == made
        before = history.versions
    assert [p.version for p in history.earlier()] == list(range(len(before) - 1))[::-1]


def test_a_version_says_what_it_was_made_for():
    history = PromptHistory("a")
    history.deploy("b", cause="edit")
    history.restore(0, cause="roll_back")
    history.restore(1, cause="recall")
    causes = [version.cause for version in history.versions]
    assert causes == ["initial", "edit", "roll_back", "recall"]


def test_a_prompt_cannot_be_written_over():
    with pytest.raises(AttributeError):
        PromptHistory("a").current.text = "b"


@pytest.mark.parametrize("version", [-1, 2, 99])
def test_a_version_that_is_not_there_is_refused(version):
    history = PromptHistory("a")
    history.deploy("b", cause="edit")
    with pytest.raises(ParameterError, match=f"no version {version} of the prompt; .* 0 to 1"):
        history.restore(version, cause="recall")
    assert history.current.version == 1


def test_a_diff_has_the_lines_that_went_and_came():
    history = PromptHistory("low: 1\nhigh: 100\nunit: m")
    history.deploy("low: 40\nhigh: 100\nunit: km", cause="edit")
    assert history.diff(0, 1).splitlines() == ["-low: 1", "+low: 40", "-unit: m", "+unit: km"]
    assert history.diff(1, 0).splitlines() == ["-low: 40", "+low: 1", "-unit: km", "+unit: m"]
    assert history.diff(1, 1) == ""


def test_a_diff_keeps_lines_that_look_like_its_own_marks():
    history = PromptHistory("-- old\n@@ same")
    history.deploy("++ new\n@@ other", cause="edit")
    assert history.diff(0, 1).splitlines() == ["--- old", "-@@ same", "+++ new", "+@@ other"]


@given(acts=ACTS, pinned=st.booleans())
def test_a_history_goes_on_from_its_state(acts, pinned):
    history, other = PromptHistory("first"), PromptHistory("other")
    history.pin(pinned=pinned)
    for _, text, _ in acts:
        history.deploy(text, cause="edit")
    other.take_over(json.loads(json.dumps(history.state())))
    assert (other.versions, other.pinned) == (history.versions, pinned)
    assert other.deploy("next", cause="edit") == history.deploy("next", cause="edit")


def test_the_oldest_versions_are_forgotten_and_numbers_go_on():
    history = PromptHistory("first")
    for number in range(1, KEPT + 5):
        history.deploy(f"text {number}", cause="edit")
    assert len(history.versions) == KEPT
    assert history.get(5).text == "text 5"
    assert history.current == Prompt(version=KEPT + 4, text=f"text {KEPT + 4}", parent=KEPT + 3)
    with pytest.raises(ParameterError, match=f"there are 5 to {KEPT + 4}"):
        history.restore(4, cause="by hand")
