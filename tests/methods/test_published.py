import pytest

from learnloop.methods.published import inserted_as_pattern
from learnloop.types import Bullet, Policy


def inserted(*texts):
    bullets = tuple(Bullet(text=text) for text in texts)
    policy = inserted_as_pattern(Policy(bullets=bullets, writer="contrastive"))
    return policy and [bullet.text for bullet in policy.bullets]


def test_plain_text_goes_in_as_it_is():
    assert inserted("Divide by 100.", "Leave out 'T'.") == ["Divide by 100.", "Leave out 'T'."]


def test_an_escape_becomes_what_it_stands_for():
    assert inserted(r"Join with \n.") == ["Join with \n."]


@pytest.mark.parametrize("text", [r"Match \d+.", r"Use \1.", r"Use \g<name>."])
def test_an_escape_that_means_nothing_loses_the_policy(text):
    assert inserted("Divide by 100.", text) is None
