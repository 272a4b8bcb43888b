import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.checks.list_environment import TASK
from learnloop.editing import EDITORS
from learnloop.editing.parts import EditorParts
from learnloop.environments.parity import Parity
from learnloop.errors import ParameterError
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import Episode, Feedback, Prompt, Query, Source

FORM = Parity().task.prompt_form
RED = {"even": "Red", "odd": "Blue"}
BLUE = {"even": "Blue", "odd": "Red"}
RULES = st.sampled_from([RED, BLUE])
SEEN = st.lists(st.tuples(st.integers(1, 10), st.sampled_from(["Red", "Blue"])), max_size=9)


def editor(name, task=None):
    parts = EditorParts(task=task or Parity().task, model=None, evaluate=None, journal=None, seed=0)
    return EDITORS.load(name).from_parts(parts)


def observed(pairs):
    return [
        Episode(
            id=f"q{place}",
            query=Query(id=f"q{place}", text=str(number)),
            answer="",
            step=place,
            source=Source(kind="model"),
            feedback=(Feedback(id=f"f{place}", target_id=f"q{place}", observed=colour),),
        )
        for place, (number, colour) in enumerate(pairs)
    ]


def edited(name, rule, pairs):
    """The rule that holds after an edit."""
    prompt = Prompt(version=3, text=write_prompt(FORM, rule))
    edit = editor(name).edit(prompt, observed(pairs))
    assert (edit.invalid, edit.calls) == (0, 1)
    return rule if edit.text is None else read_prompt(FORM, edit.text)


def fits(rule, number, colour):
    return rule["odd" if number % 2 else "even"] == colour


@given(rule=RULES, pairs=SEEN)
def test_majority_believes_what_most_of_the_evidence_says_and_stays_on_a_tie(rule, pairs):
    speak_for = sum(fits(rule, *pair) for pair in pairs)
    other = BLUE if rule == RED else RED
    expected = other if len(pairs) - speak_for > speak_for else rule
    assert edited("majority", rule, pairs) == expected


@given(rule=RULES, pairs=SEEN)
def test_obedient_flips_wherever_anything_spoke_against_the_prompt(rule, pairs):
    other = BLUE if rule == RED else RED
    against = any(not fits(rule, *pair) for pair in pairs)
    assert edited("obedient", rule, pairs) == (other if against else rule)


def test_obedient_says_why_it_kept_a_prompt_that_nothing_spoke_against():
    prompt = Prompt(version=0, text=write_prompt(FORM, RED))
    edit = editor("obedient").edit(prompt, observed([(2, "Red")]))
    assert (edit.text, edit.reason) == (None, "no observation that the prompt missed")


@pytest.mark.parametrize("name", ["majority", "obedient"])
def test_a_reference_editor_stands_for_one_call(name):
    assert editor(name).max_calls == 1


@pytest.mark.parametrize("name", ["majority", "obedient"])
def test_a_reference_editor_needs_a_prompt_with_fields(name):
    with pytest.raises(ParameterError, match=f"editor '{name}' .* use the editor 'rewriter'"):
        editor(name, task=TASK)
