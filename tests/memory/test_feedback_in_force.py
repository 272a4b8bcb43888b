import pytest

from learnloop.memory.feedback_in_force import verdict
from learnloop.types import Feedback


def said(feedback_id, correct, supersedes=None):
    return Feedback(id=feedback_id, target_id="q", correct=correct, supersedes=supersedes)


@pytest.mark.parametrize(
    ("feedback", "expected"),
    [
        ([], None),
        ([said("a", None)], None),
        ([said("a", True), said("b", False)], False),
        ([said("a", True), said("b", None)], True),
        ([said("a", True), said("b", None, "a")], None),
        ([said("a", True), said("b", False, "a"), said("c", None, "b")], None),
        ([said("b", True, "a"), said("a", False)], True),
        ([said("a", True, "a")], True),
        ([said("a", True), said("b", False, "elsewhere")], False),
    ],
    ids=[
        "nothing was said",
        "a comment alone says nothing about right or wrong",
        "the newest wins",
        "one without a view does not hide an older view",
        "a retraction takes a view back",
        "a superseded one still supersedes",
        "order of arrival does not matter to supersedes",
        "feedback cannot supersede itself",
        "superseding feedback on another episode changes nothing here",
    ],
)
def test_the_newest_feedback_in_force_decides(feedback, expected):
    assert verdict(feedback) is expected
