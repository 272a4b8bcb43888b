import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.python_answer import (
    in_fence,
    out_of_fence,
    parse_code,
    parse_published_code,
)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("Here:\n```python\nx = 1\n```\nand\n```python\ny = 2\n```", "x = 1"),
        ("Install it:\n```\npip install x\n```\n```Python3\nx = 1\n```", "x = 1"),
        ("```\nx = 1\n```\n", "x = 1"),
        ("```py\n    return 1\n```", "    return 1"),
        ("```python\n\n\n    y = 1\n    return y\n\n```", "    y = 1\n    return y"),
        ("```python\nx = 1\n", "x = 1"),
        ("```python\nx = '```'\n```", "x = '```'"),
        ("x = 1\n", "x = 1"),
        ("BEGIN SOLUTION\n<code>\nx = 1\n</code>\nEND SOLUTION", "x = 1"),
        ("x = 1\n</code>\nIt is one.", "x = 1"),
        ("# SOLUTION START\nx = 1\n# SOLUTION END", "x = 1"),
        ("    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION", "    return 1"),
        ("", ""),
        ("<code>\n</code>", ""),
    ],
)
def test_the_code_is_found_where_models_put_it(reply, code):
    assert out_of_fence(parse_code(reply)) == code


def test_published_parsing_reads_closed_python_blocks_only():
    assert parse_published_code("a ```python\nx = 1\n``` b ```python\ny\n```") == "\nx = 1\n"
    assert parse_published_code("```\nx = 1\n```") == "```\nx = 1\n```"
    assert parse_published_code("```python\nx = 1") == "```python\nx = 1"
    assert parse_published_code("```python\nx = '```'\n```") == "\nx = '"


@given(st.text())
def test_parsing_what_was_parsed_changes_nothing_that_has_no_fence_in_it(text):
    code = out_of_fence(parse_code(text))
    if "```" not in code:
        assert out_of_fence(parse_code(in_fence(code))) == code


@pytest.mark.parametrize("character", ["\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_breaks_of_python_end_a_line(character):
    code = f"x = 'a{character}b'"
    assert out_of_fence(parse_code(f"```python\r\n \r\n{code}\r\ny = 1\r\n```")) == f"{code}\ny = 1"


@given(st.text())
def test_any_reply_gives_some_answer(text):
    assert parse_code(text).startswith("```python\n")
    assert out_of_fence(text) in text
