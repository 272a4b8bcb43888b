import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import ProposalError
from learnloop.structured_prompt import check_values, prompt_schema, read_prompt, write_prompt
from learnloop.types import PromptField, PromptForm


def complain(values):
    return "low is above high" if values["low"] > values["high"] else None


FORM = PromptForm(
    fields=(
        PromptField(name="low", meaning="the least", low=1, high=100),
        PromptField(name="high", meaning="the most", low=1, high=100),
        PromptField(name="colour", meaning="the colour", choices=("Red", "Blue")),
    ),
    initial={"low": 1, "high": 100, "colour": "Red"},
    predict=lambda values, query: "",
    observe=lambda episode: "",
    fit=lambda values, evidence: values,
    question="?",
    complain=complain,
)
GOOD = {"low": 3, "high": 40, "colour": "Blue"}
TEXT = "low: 3\nhigh: 40\ncolour: Blue"
VALUES = st.fixed_dictionaries(
    {
        "low": st.integers(1, 100),
        "high": st.integers(1, 100),
        "colour": st.sampled_from(["Red", "Blue"]),
    }
)


def test_a_prompt_has_one_line_a_field_in_the_order_of_the_form():
    assert write_prompt(FORM, dict(reversed(GOOD.items()))) == TEXT
    assert read_prompt(FORM, TEXT) == GOOD


@given(values=VALUES)
def test_what_is_written_is_read_again(values):
    if values["low"] <= values["high"]:
        assert read_prompt(FORM, write_prompt(FORM, values)) == values
    else:
        with pytest.raises(ProposalError, match="low is above high"):
            write_prompt(FORM, values)


@given(text=st.text(max_size=40))
def test_no_other_text_is_taken_for_a_prompt(text):
    with pytest.raises(ProposalError):
        read_prompt(FORM, text)


@pytest.mark.parametrize(
    "text",
    [
        "\n  low : 3 \n\n high:40\ncolour:Blue\n",
        "colour: Blue\nhigh: 40\nlow: 3",
        "low: +3\nhigh: 040\ncolour: Blue",
    ],
)
def test_blanks_and_the_order_of_lines_do_not_matter(text):
    assert write_prompt(FORM, read_prompt(FORM, text)) == TEXT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'low' is missing"),
        ("low: 3\nhigh: 40", "'colour' is missing"),
        (f"{TEXT}\nlow: 4", "'low' stands in it twice"),
        (f"{TEXT}\nnote: none", "no field is called 'note'; it has low, high, colour"),
        (f"Here it is:\n{TEXT}", "no field is called 'Here it is'"),
        (f"{TEXT}\nThat is all.", "not a line of a prompt: 'That is all.'"),
        (TEXT.replace("3", "0"), "low is a whole number from 1 to 100, not '0'"),
        (TEXT.replace("40", "101"), "high is a whole number from 1 to 100, not '101'"),
        (TEXT.replace("3", "3.0"), "low is a whole number"),
        (TEXT.replace("3", "1_0"), "low is a whole number"),
        (TEXT.replace("3", "٣"), "low is a whole number"),
        (TEXT.replace("3", "9" * 5000), "low is a whole number"),
        (TEXT.replace("Blue", "Green"), r"colour is one of \('Red', 'Blue'\), not 'Green'"),
        (TEXT.replace("Blue", "blue"), "colour is one of"),
        (TEXT.replace("3", "41"), "low is above high"),
    ],
)
def test_a_text_that_is_no_prompt_is_refused_with_the_reason(text, message):
    with pytest.raises(ProposalError, match=message) as refused:
        read_prompt(FORM, text)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("number", [3, "3", 3.0, "03"])
def test_a_whole_number_may_be_written_as_json_or_text_has_it(number):
    assert check_values(FORM, GOOD | {"low": number}) == GOOD


@pytest.mark.parametrize(
    "number", [True, None, 3.5, float("nan"), float("inf"), [3], {"low": 3}, "", "three"]
)
def test_what_is_no_whole_number_is_refused(number):
    with pytest.raises(ProposalError, match="low is a whole number"):
        check_values(FORM, GOOD | {"low": number})


@pytest.mark.parametrize("colour", [None, 1, ["Red"], {"Red": 1}, ""])
def test_what_is_no_choice_is_refused(colour):
    with pytest.raises(ProposalError, match="colour is one of"):
        check_values(FORM, GOOD | {"colour": colour})


def test_the_schema_says_what_the_check_checks():
    schema = prompt_schema(FORM)
    assert json.loads(json.dumps(schema)) == {
        "type": "object",
        "properties": {
            "low": {"type": "integer", "minimum": 1, "maximum": 100},
            "high": {"type": "integer", "minimum": 1, "maximum": 100},
            "colour": {"type": "string", "enum": ["Red", "Blue"]},
        },
        "required": ["low", "high", "colour"],
        "additionalProperties": False,
    }
