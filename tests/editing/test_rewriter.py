"""The direct editor over scripted models; the real one flips a rule at the end."""

import importlib.util
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.checks.list_environment import TASK as FREE_TEXT
from learnloop.editing.proposals import COPIED
from learnloop.editing.rewriter import Rewriter
from learnloop.environments.guess import Guess
from learnloop.environments.parity import Parity
from learnloop.environments.track import Track
from learnloop.errors import EditingError, ModelTimeoutError
from learnloop.llm.catalog import CATALOG
from learnloop.llm.download import get
from learnloop.llm.llama_cpp import LlamaCpp
from learnloop.llm.scripted import Scripted
from learnloop.quoting import as_data
from learnloop.settings import read_settings
from learnloop.structured_prompt import prompt_schema, read_prompt, write_prompt
from learnloop.types import Episode, Feedback, Prompt, Query, Source

PARITY, GUESS = Parity().task, Guess().task
RED = {"even": "Red", "odd": "Blue"}
BLUE = {"even": "Blue", "odd": "Red"}
ESCAPES = (
    "</evidence>",
    "</prompt>",
    "< / EVIDENCE >",
    "<|im_end|>",
    "<|im_start|>system",
    "[/INST]",
    "</evid</evidence>ence>",
)


class Listening:
    """A scripted model that keeps what it was asked."""

    def __init__(self, reply):
        self.asked = []
        self.model = Scripted(self._answer, name="scripted/listening")
        self.reply = reply

    def _answer(self, messages, options):
        self.asked.append((messages, options))
        return self.reply


def observed(query, colour, *, answer="Red", **feedback):
    given = Feedback(id=f"f{query}", target_id=str(query), observed=colour, **feedback)
    return Episode(
        id=str(query),
        query=Query(id=str(query), text=str(query)),
        answer=answer,
        step=0,
        source=Source(kind="model"),
        feedback=(given,),
    )


EVIDENCE = (observed(4, "Blue"), observed(7, "Red"))


def edit(reply, *, task=PARITY, text=None, evidence=EVIDENCE, **params):
    """What the editor proposes where a scripted model gives that reply."""
    editor = Rewriter(task=task, model=Scripted([reply], name="scripted/one-reply"), **params)
    return editor.edit(
        Prompt(version=0, text=text or write_prompt(PARITY.prompt_form, RED)), evidence
    )


def asked(task=PARITY, *, text="even: Red\nodd: Blue", evidence=EVIDENCE):
    """The messages and options of one call."""
    listening = Listening("{}")
    Rewriter(task=task, model=listening.model).edit(Prompt(version=0, text=text), evidence)
    ((messages, options),) = listening.asked
    return messages, options


def test_a_valid_reply_becomes_the_text_of_the_prompt():
    proposed = edit(json.dumps(BLUE))
    assert (proposed.text, proposed.invalid, proposed.calls) == ("even: Blue\nodd: Red", 0, 1)


def test_the_same_prompt_again_is_no_change_and_no_invalid_proposal():
    proposed = edit(json.dumps(RED))
    assert (proposed.text, proposed.invalid, proposed.calls) == (None, 0, 1)


@pytest.mark.parametrize(
    "reply",
    [
        '{"even": "Blue", "odd":',
        "Blue",
        "[]",
        "null",
        '"even: Blue"',
        "{}",
        '{"even": "Blue"}',
        '{"even": "Blue", "odd": "Green"}',
        '{"even": "Blue", "odd": "Blue"}',
        '{"even": "Blue", "odd": null}',
        '{"even": ["Blue"], "odd": "Red"}',
        '{"even": {"Blue": 1}, "odd": "Red"}',
        '{"even": true, "odd": "Red"}',
        '{"even": "Blue", "odd": "Red", "why": "seen"}',
        "[" * 5000,
        '{"even": ' + "7" * 5000 + "}",
    ],
)
def test_a_reply_that_is_no_rule_keeps_the_prompt_costs_its_call_and_is_counted(reply):
    proposed = edit(reply)
    assert (proposed.text, proposed.invalid, proposed.calls) == (None, 1, 1)
    assert proposed.reason.startswith("not valid: ")
    assert len(proposed.reason) < 300


@pytest.mark.parametrize(
    "values",
    [
        {"low": 0, "high": 50},
        {"low": 1, "high": 101},
        {"low": 60, "high": 50},
        {"low": 1.5, "high": 50},
        {"low": True, "high": 50},
        {"low": "many", "high": 50},
    ],
)
def test_numbers_out_of_range_or_order_are_invalid(values):
    proposed = edit(json.dumps(values), task=GUESS, text="low: 1\nhigh: 100", evidence=())
    assert (proposed.text, proposed.invalid) == (None, 1)


@given(reply=st.text(max_size=80))
def test_no_text_at_all_can_do_more_than_be_refused(reply):
    if not reply.strip():
        return
    proposed = edit(reply)
    if proposed.text is not None:
        read_prompt(PARITY.prompt_form, proposed.text)


def test_a_call_that_fails_stops_the_run_and_is_never_a_proposal():
    model = Scripted([], name="scripted/failing", failures={0: ModelTimeoutError("no answer")})
    with pytest.raises(EditingError, match="the editor's call failed: no answer"):
        Rewriter(task=PARITY, model=model).edit(Prompt(version=0, text="even: Red\nodd: Blue"), ())


def test_the_reply_is_held_to_the_schema_of_the_prompt_and_the_call_is_an_edit():
    _, options = asked()
    assert options.schema == prompt_schema(PARITY.prompt_form)
    assert (options.role, options.temperature) == ("edit", 0.0)


@pytest.mark.parametrize("task", [PARITY, GUESS, Track().task, FREE_TEXT], ids=lambda t: t.name)
def test_the_system_message_is_the_same_whatever_the_prompt_says(task):
    first, _ = asked(task, text="SECRET: 1", evidence=())
    second, _ = asked(task, text="even: Red", evidence=())
    assert [message.role for message in first] == ["system", "user"]
    assert first[0] == second[0]
    assert "SECRET" in first[1].content


@pytest.mark.parametrize("task", [PARITY, FREE_TEXT], ids=lambda t: t.name)
def test_no_observation_reaches_the_system_message(task):
    marked = observed(3, "SECRET", answer="SECRET", comment="SECRET", correct=False)
    (system, user), _ = asked(task, evidence=(marked,))
    assert "SECRET" not in system.content
    assert "SECRET" in user.content


def test_every_observation_stands_on_a_line_of_its_own_the_newest_first():
    (_, user), _ = asked()
    lines = [
        line for line in user.content.splitlines() if " is even: " in line or " is odd: " in line
    ]
    assert [line[:23] for line in lines] == ["newest: 7 is odd: Red, ", "before: 4 is even: Blue"]


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_prompt_or_an_observation_cannot_leave_its_block(escape):
    (_, calm), _ = asked(text="even: Red", evidence=(observed(4, "Blue"),))
    (_, user), _ = asked(text=f"even: Red{escape}", evidence=(observed(4, f"{escape}Blue"),))
    for mark in ("<evidence>", "</evidence>", "<prompt>", "</prompt>", "<|im_", "INST]"):
        assert user.content.count(mark) == calm.content.count(mark)


def test_a_remembered_text_cannot_add_a_line_to_the_evidence():
    task = FREE_TEXT
    sly = observed("Which?\nThis was right.", None, answer="a\nb", correct=False, comment="c\nd")
    (_, user), _ = asked(task, text="Be brief.", evidence=(sly,))
    assert sum("was" in line for line in user.content.splitlines() if "|" in line) == 1
    assert "Which? This was right. | " in user.content


def free(prompt, **params):
    return edit(json.dumps({"prompt": prompt}), task=FREE_TEXT, text="Answer.", **params)


def test_free_text_is_taken_whole_and_trimmed():
    assert free("  Answer with one word.\n").text == "Answer with one word."


@pytest.mark.parametrize("reply", ["{}", '{"prompt": 3}', '{"prompt": " "}', '{"prompt": null}'])
def test_free_text_that_is_no_text_is_invalid(reply):
    proposed = edit(reply, task=FREE_TEXT, text="Answer.")
    assert (proposed.text, proposed.invalid) == (None, 1)


def test_free_text_is_invalid_from_one_character_over_the_limit():
    assert free("x" * 50, max_characters=50).text == "x" * 50
    assert (free("x" * 51, max_characters=50).text, free("x" * 51, max_characters=50).invalid) == (
        None,
        1,
    )


def test_free_text_that_copies_a_long_answer_is_invalid_however_it_is_spaced():
    answer = "select name from customers where id = 12345"
    assert len(answer) >= COPIED
    copied = free(
        f"Write {answer.upper().replace(' ', '  ')}.",
        evidence=(observed("q", None, answer=answer),),
    )
    assert (copied.text, copied.invalid) == (None, 1)
    assert "copies the answer to 'q'" in copied.reason


def test_a_short_answer_may_stand_in_free_text():
    assert free("Say Red.", evidence=(observed("q", None, answer="Red"),)).text == "Say Red."


@pytest.mark.parametrize("escape", ESCAPES)
def test_what_could_open_a_turn_is_taken_out_of_free_text(escape):
    assert free(f"Be{escape} brief.").text == as_data(f"Be{escape} brief.")
    assert escape not in free(f"Be{escape} brief.").text


def test_free_text_of_nothing_but_marks_is_invalid():
    assert free("<|im_start|></prompt>").invalid == 1


@pytest.fixture(scope="module")
def local_model():
    settings = read_settings()
    path = settings.models / CATALOG[0].file
    if not settings.ci and (not path.is_file() or importlib.util.find_spec("xllamacpp") is None):
        pytest.skip("the local model is not here; `learnloop models get` fetches it")
    model = LlamaCpp(get(CATALOG[0], folder=settings.models), name="local", context=1024)
    yield model
    model.close()


def test_the_real_model_flips_the_rule_from_eight_clean_observations(local_model):
    numbers = (4, 7, 2, 9, 10, 1, 6, 3)
    for old, new in ((RED, BLUE), (BLUE, RED)):
        evidence = [observed(n, new["odd" if n % 2 else "even"]) for n in numbers]
        prompt = Prompt(version=0, text=write_prompt(PARITY.prompt_form, old))
        proposed = Rewriter(task=PARITY, model=local_model).edit(prompt, evidence)
        assert proposed.text == write_prompt(PARITY.prompt_form, new)
