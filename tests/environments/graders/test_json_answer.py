import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.json_answer import (
    parse_answer,
    parse_published_answer,
    read_answer,
    write_answer,
)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"answer": "Neil Armstrong"}', "Neil Armstrong"),
        ('```json\n{"answer": "Neil Armstrong"}\n```', "Neil Armstrong"),
        ('{"rationale": "He was first.", "answer": "Neil Armstrong"}', "Neil Armstrong"),
        ('{"answer": "1969"} or {"answer": "1970"}', "1969"),
        ('{"ANSWER ": "x"}', "x"),
        ('{"answer": 1969}', "1969"),
        ('{"answer": 2.50}', "2.50"),
        ('{"answer": true}', "yes"),
        ('{"answer": false}', "no"),
        ('{"answer": ["Paris", "Rome", 3]}', "Paris, Rome, 3"),
        ('{"answer": {"name": "Paris"}}', '{"name": "Paris"}'),
        ('{"answer": null}', ""),
        ('{"answer": ""}', ""),
        ('{"answer": "a } and a {"}', "a } and a {"),
        ('} first, then {"answer": "yes"}', "yes"),
        ('{x} {"result": {"answer": "inside"}}', "inside"),
        ("{'answer': 'Neil Armstrong'}", "Neil Armstrong"),
        ('{"answer": "Neil Armstr', "Neil Armstr"),
        ("**Answer:** Neil Armstrong\nsince he was first", "Neil Armstrong"),
        ("Answer: no idea.\nFinal answer: Neil Armstrong", "Neil Armstrong"),
        ("The answer is 1969", "1969"),
        ("Neil Armstrong", "Neil Armstrong"),
        ("Answer:", "Answer:"),
        ('{"result": "Paris"}', '{"result": "Paris"}'),
        ("", ""),
    ],
)
def test_the_answer_is_found_in(reply, answer):
    assert read_answer(parse_answer(reply)) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('So: {"answer": "Neil Armstrong"}', "Neil Armstrong"),
        ("Neil Armstrong", "Neil Armstrong"),
        ('{"answer": "Neil', '{"answer": "Neil'),  # never closed: the whole reply
        ('{"result": "Paris"} yes', '{"result": "Paris"}'),  # no such key: the braces
        ("I say {Paris}", "I say {Paris}"),  # no JSON: the whole reply
        ('{"answer": "a } b"}', '{"answer": "a } b"}'),  # a brace in a string ends the object
        ('{"a": {"answer": "x"}}', '{"a": {"answer": "x"}}'),
        ("Answer: Paris", "Answer: Paris"),
        ('{"answer": "Kraków"}', "Kraków"),
        ("", ""),
    ],
)
def test_published_reading_takes_the_first_balanced_braces(reply, answer):
    assert read_answer(parse_published_answer(reply)) == answer


@pytest.mark.parametrize(
    "reply",
    [
        '} {"answer": "yes"}',
        '{"answer": 1969}',
        '{"answer": true}',
        '{"answer": ["Paris"]}',
        '{"answer": {"name": "Paris"}}',
        '{"answer": null}',
        '{"answer": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"answer": ' + "1" * 5000 + "}",
    ],
)
def test_what_crashes_the_published_run_is_no_answer(reply):
    assert parse_published_answer(reply) == '{"answer": null}'
    assert read_answer(parse_published_answer(reply)) is None


def test_published_memory_holds_ascii():
    assert parse_published_answer('{"answer": "Kraków"}') == '{"answer": "Krak\\u00f3w"}'
    assert parse_answer('{"answer": "Kraków"}') == '{"answer": "Kraków"}'


@given(st.text())
def test_every_text_survives_writing_and_reading(text):
    assert read_answer(write_answer(text)) == text
    assert read_answer(parse_answer(write_answer(text))) == text
    assert read_answer(parse_published_answer(json.dumps({"answer": text}))) in {
        text,
        None,
        json.dumps({"answer": text}),  # braces in the text may end the object early
    }


replies = st.text() | st.lists(
    st.sampled_from(["{", "}", '"', "answer", ":", "[", "]", "is", " ", "\n", "1", "\\ud800"])
).map("".join)


@given(replies)
def test_no_reply_breaks_a_parser(reply):
    for parse in (parse_answer, parse_published_answer):
        written = parse(reply)
        written.encode("utf-8")
        assert set(json.loads(written)) == {"answer"}


@pytest.mark.parametrize("opens", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("depth", [10, 300, 500, 900, 990, 2000])
def test_an_answer_nested_to_any_depth_breaks_no_parser(opens, depth):
    closes = "".join({"[": "]", "{": "}"}[each] for each in reversed(opens) if each in "[{")
    reply = f'{{"answer": {opens * depth}1{closes * depth}}}'
    for parse in (parse_answer, parse_published_answer):
        read_answer(parse(reply))


@pytest.mark.parametrize(
    "piece", ["{", '{"a":', "[", "answer is ", "answer: \t", " ", '{"answer":[']
)
def test_a_reply_without_end_is_read_to_a_limit(piece):
    assert len(parse_answer(piece * 50_000)) < 60_000
