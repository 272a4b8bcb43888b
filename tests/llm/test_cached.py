import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from learnloop.errors import (
    BadReplyError,
    LanguageModelError,
    ModelServerError,
    RateLimitError,
    StoreError,
    StoreLockedError,
)
from learnloop.llm.cached import Cached, cache_key
from learnloop.llm.responses import Responses
from learnloop.llm.scripted import Scripted
from learnloop.types import CallRole, Message, Options

ASK = [Message(role="user", content="How many?")]


def counting() -> Scripted:
    numbers = iter(range(1000))
    return Scripted(lambda messages, options: str(next(numbers)))


def test_the_same_question_is_asked_once_and_replayed_whole(tmp_path: Path) -> None:
    model = counting()
    cached = Cached(model, tmp_path / "responses.sqlite")
    first = cached.complete(ASK, options=Options())
    second = cached.complete(ASK, options=Options())
    assert model.calls == 1
    assert not first.replayed
    assert second == replace(first, replayed=True)


def test_replies_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    first = Cached(counting(), path)
    first.complete(ASK, options=Options())
    first.close()
    nobody = Scripted([])
    assert Cached(nobody, path).complete(ASK, options=Options()).text == "0"
    assert nobody.calls == 0


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"sample": 1},
        {"max_tokens": 7},
        {"temperature": 0.5},
        {"stop": ("x",)},
        {"schema": {"type": "object"}},
    ],
)
def test_every_option_that_the_model_sees_is_part_of_the_key(change: dict[str, object]) -> None:
    changed = replace(Options(), **change)  # type: ignore[arg-type]
    assert cache_key("m", ASK, changed) != cache_key("m", ASK, Options())


def test_model_role_of_a_message_and_its_text_are_part_of_the_key() -> None:
    other = [Message(role="system", content="How many?")]
    split = [Message(role="user", content="How "), Message(role="user", content="many?")]
    keys = {cache_key("m", asked, Options()) for asked in (ASK, other, split)}
    assert len(keys | {cache_key("n", ASK, Options())}) == 4


def test_what_a_call_is_for_is_no_part_of_the_key() -> None:
    assert cache_key("m", ASK, Options(role="judge")) == cache_key("m", ASK, Options())


def test_a_failure_is_replayed_in_its_own_run_only(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    failing = Scripted(["late"], failures={0: RateLimitError("asked to wait", retry_after=3.0)})
    for _ in range(2):
        with pytest.raises(RateLimitError, match="asked to wait") as caught:
            Cached(failing, path, failure_scope="run-1").complete(ASK, options=Options())
        assert caught.value.retry_after == 3.0
    assert failing.calls == 1
    other = Cached(failing, path, failure_scope="run-2").complete(ASK, options=Options())
    assert other.text == "late"
    with pytest.raises(RateLimitError):
        Cached(failing, path, failure_scope="run-1").complete(ASK, options=Options())


def test_without_a_scope_failures_are_not_kept(tmp_path: Path) -> None:
    cached = Cached(Scripted(["yes"], failures={0: BadReplyError("empty")}), tmp_path / "r.sqlite")
    with pytest.raises(BadReplyError):
        cached.complete(ASK, options=Options())
    assert cached.complete(ASK, options=Options()).text == "yes"


@pytest.mark.parametrize("role", ["edit", "loss", "backward", "reflect"])
def test_a_failure_that_halts_a_run_is_asked_anew_when_the_run_goes_on(
    tmp_path: Path, role: CallRole
) -> None:
    model = Scripted(["yes"], failures={0: ModelServerError("gone")})
    cached = Cached(model, tmp_path / "r.sqlite", failure_scope="run")
    with pytest.raises(ModelServerError):
        cached.complete(ASK, options=Options(role=role))
    assert cached.complete(ASK, options=Options(role=role)).text == "yes"


def test_an_unheard_of_failure_is_still_a_failure(tmp_path: Path) -> None:
    class PluginError(LanguageModelError):
        pass

    responses = Responses(tmp_path / "r.sqlite")
    responses.add_failure("key", PluginError("odd"), scope="run")
    found = responses.find("key", scope="run")
    assert type(found) is LanguageModelError
    assert str(found) == "odd"


def test_the_first_of_two_replies_to_the_same_question_stays_in_force(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    inner = Cached(counting(), path)

    def ask_elsewhere_meanwhile(messages: object, options: object) -> str:
        inner.complete(ASK, options=Options())
        return "mine"

    late = Cached(Scripted(ask_elsewhere_meanwhile), path)
    assert late.complete(ASK, options=Options()).text == "0"


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cached = Cached(Scripted(lambda messages, options: str(options.seed)), tmp_path / "r.sqlite")
    said: list[tuple[int, str]] = []

    def ask() -> None:
        for seed in range(20):
            said.append((seed, cached.complete(ASK, options=Options(seed=seed)).text))

    run_at_once(ask, count=4)
    assert len(said) == 80
    assert all(text == str(seed) for seed, text in said)


def test_a_cache_in_memory_needs_no_file() -> None:
    cached = Cached(counting(), None)
    assert cached.complete(ASK, options=Options()).text == "0"
    assert cached.complete(ASK, options=Options()).replayed


def test_a_locked_file_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    responses = Responses(path, patience=0.0)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLockedError, match="locked by another process"):
        responses.add_failure("key", ModelServerError("x"), scope="run")
    holder.execute("ROLLBACK")
    holder.close()
    responses.add_failure("key", ModelServerError("x"), scope="run")


def test_a_file_of_something_else_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    path.write_text("not a database, and long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="cannot be used"):
        Responses(path)


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        Responses(path)


def run_at_once(work: Callable[[], None], *, count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
