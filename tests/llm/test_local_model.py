"""The real local model, in few and short calls. Skips only where it cannot be had, never in CI."""

import importlib.util
from pathlib import Path

import pytest

from learnloop.checks.models import check_language_model
from learnloop.errors import ModelFileError, ModelServerError
from learnloop.llm.catalog import CATALOG
from learnloop.llm.download import get
from learnloop.llm.llama_cpp import LlamaCpp
from learnloop.llm.openai_compatible import OpenAICompatible
from learnloop.settings import read_settings
from learnloop.types import Message, Options

ENTRY = CATALOG[0]
CONTEXT = 2048
ROLE = "You write SQLite for this schema.\n" + "\n".join(
    f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT, cents INTEGER, created TEXT);"
    for number in range(6)
)


@pytest.fixture(scope="module")
def path() -> Path:
    settings = read_settings()
    found = settings.models / ENTRY.file
    if not settings.ci and (not found.is_file() or importlib.util.find_spec("xllamacpp") is None):
        pytest.skip("the local model is not here; `learnloop models get` fetches it")
    return get(ENTRY, folder=settings.models)


@pytest.fixture(scope="module")
def model(path):
    model = LlamaCpp(path, name=ENTRY.identity, context=CONTEXT)
    yield model
    model.close()


def ask(model, question, *, role=ROLE, max_tokens=24, **options):
    messages = [Message(role="system", content=role), Message(role="user", content=question)]
    return model.complete(messages, options=Options(max_tokens=max_tokens, **options))


def test_the_local_model_keeps_the_contract(model) -> None:
    check_language_model(model, context=CONTEXT)


def test_a_reply_does_not_depend_on_earlier_calls_and_the_schema_is_read_once(path, model) -> None:
    question = "Question: How many cents in t3 belong to names that begin with B?\nSQL:"
    ask(model, "Question: How many cents in t3 belong to nobody?\nSQL:")
    ask(model, "The answer was in cents, but euros were wanted.", role="You write short rules.")
    later = ask(model, question)
    again = ask(model, question)
    fresh_model = LlamaCpp(path, name=ENTRY.identity, context=CONTEXT)
    fresh = ask(fresh_model, question)
    fresh_model.close()
    assert later.text == again.text == fresh.text
    assert fresh.usage.tokens_cached == 0
    assert later.usage.tokens_cached == again.usage.tokens_cached > len(ROLE) / 5
    assert "t3" in fresh.text


def test_at_most_five_bullets_are_written_when_asked(model) -> None:
    reply = ask(
        model,
        "Write two rules that keep every detail: amounts are in cents, reports are in euros; "
        "refunded orders never count.",
        role='You write rules. Each is one line that begins with "- ". At most five.',
        max_tokens=60,
    )
    lines = [line for line in reply.text.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 5
    assert all(line.startswith("- ") for line in lines)


def test_a_seed_makes_a_drawn_reply_repeatable(model) -> None:
    drawn = [
        ask(
            model, "Name an animal.", role="Be brief.", max_tokens=8, temperature=1.5, sample=sample
        )
        for sample in (0, 0, 1, 2, 3)
    ]
    assert drawn[0].text == drawn[1].text
    assert len({reply.text for reply in drawn}) > 1


def test_its_own_endpoint_answers_in_the_openai_format(model) -> None:
    remote = OpenAICompatible(
        base_url=f"{model.address}/v1", api_key=None, model="local", name="loopback"
    )
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    reply = ask(remote, "Reply in JSON: n is 4.", role="Be brief.", schema=schema)
    remote.close()
    assert reply.text.replace(" ", "").replace("\n", "") == '{"n":4}'
    assert reply.usage.tokens_in > 0
    assert reply.usage.cost is None


@pytest.mark.parametrize("kept", [100_000, 50_000_000])
def test_a_file_cut_short_is_refused_and_the_process_lives(
    path, tmp_path, kept: int, capfd
) -> None:
    cut = tmp_path / "cut.gguf"
    with path.open("rb") as file:
        cut.write_bytes(file.read(kept))
    with pytest.raises(ModelFileError, match="cut short"):
        LlamaCpp(cut, name="cut")
    assert capfd.readouterr() == ("", "")


def test_damage_that_only_the_engine_can_see_is_refused_in_silence(path, tmp_path, capfd) -> None:
    damaged = tmp_path / "damaged.gguf"
    with path.open("rb") as file:
        head = file.read(8_000_000)
    damaged.write_bytes(head.replace(b"qwen2.block_count", b"qwen2.block_kount"))
    with damaged.open("r+b") as file:
        file.truncate(ENTRY.bytes)
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        LlamaCpp(damaged, name="damaged")
    assert capfd.readouterr() == ("", "")


def test_a_closed_model_says_so(path) -> None:
    model = LlamaCpp(path, name=ENTRY.identity, context=512)
    model.close()
    with pytest.raises(ModelServerError, match="was closed"):
        ask(model, "Hi")
