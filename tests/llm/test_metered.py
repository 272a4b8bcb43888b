import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import BudgetError, ModelServerError, StoreError
from learnloop.llm.cached import Cached
from learnloop.llm.metered import Ledger, Metered, worst_case_tokens
from learnloop.llm.scripted import Scripted
from learnloop.types import Call, Message, Options, Reply, Usage

ASK = [Message(role="user", content="How many are there?")]


def test_every_call_is_a_row_with_its_role_and_usage() -> None:
    ledger = Ledger()
    model = Metered(Scripted(["a b", "c"], name="scripted/x"), ledger)
    model.complete(ASK, options=Options(role="policy"))
    model.complete(ASK, options=Options(role="answer"))
    rows = ledger.since(0)
    assert [row.role for row in rows] == ["policy", "answer"]
    assert [row.usage.tokens_out for row in rows] == [2, 1]
    assert rows[0].model == "scripted/x"
    assert ledger.tokens == 4 + 2 + 4 + 1


def test_a_failed_call_is_a_row_that_says_why_and_counts_as_a_call() -> None:
    ledger = Ledger(max_calls=1)
    model = Metered(Scripted([], failures={0: ModelServerError("down\nfor now")}), ledger)
    with pytest.raises(ModelServerError):
        model.complete(ASK, options=Options())
    assert ledger.since(0)[0].error == "ModelServerError: down for now"
    with pytest.raises(BudgetError):
        model.complete(ASK, options=Options())


def test_a_replayed_call_is_a_row_but_spends_nothing(tmp_path: Path) -> None:
    path, script = tmp_path / "r.sqlite", Scripted(["a b"])
    Cached(script, path).complete(ASK, options=Options())
    ledger = Ledger(max_calls=1)
    model = Metered(Cached(script, path), ledger)
    for _ in range(3):
        model.complete(ASK, options=Options())
    assert [row.replayed for row in ledger.since(0)] == [True] * 3
    assert ledger.tokens == 0


def test_a_run_made_again_has_the_same_rows_but_for_the_mark_of_replay(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    script = Scripted(["a b", "c"], failures={1: ModelServerError("down")})

    def rows() -> list[tuple[str, Usage, str | None]]:
        ledger = Ledger()
        model = Metered(Cached(script, path, failure_scope="run"), ledger)
        for seed in range(3):
            try:
                model.complete(ASK, options=Options(seed=seed))
            except ModelServerError:
                continue
        return [(row.role, row.usage, row.error) for row in ledger.since(0)]

    first = rows()
    assert rows() == first
    assert script.calls == 3
    assert [error for _, _, error in first] == [None, "ModelServerError: down", None]


def test_a_call_that_could_pass_the_token_limit_is_not_made() -> None:
    worst = worst_case_tokens(ASK, Options(max_tokens=10))
    script = Scripted(["a", "b"])
    model = Metered(script, Ledger(max_tokens=worst))
    model.complete(ASK, options=Options(max_tokens=10))
    with pytest.raises(BudgetError, match="max_tokens"):
        model.complete(ASK, options=Options(max_tokens=10))
    assert script.calls == 1


def test_the_worst_case_counts_bytes_schema_and_reply() -> None:
    asked = [Message(role="user", content="é"), Message(role="user", content="")]
    options = Options(max_tokens=5, schema={"a": 1})
    assert worst_case_tokens(asked, options) == 2 + 16 * 2 + len('{"a": 1}') + 5


def test_a_reservation_is_given_back_when_no_call_was_made() -> None:
    class Broken:
        name = "broken"

        def complete(self, messages: object, *, options: object) -> Reply:
            raise StoreError("no disk")

    ledger = Ledger(max_calls=1)
    for _ in range(3):
        with pytest.raises(StoreError):
            Metered(Broken(), ledger).complete(ASK, options=Options())
    assert len(ledger) == 0


def test_rows_are_drained_once_and_stay_in_the_ledger() -> None:
    ledger = Ledger()
    model = Metered(Scripted(["a", "b", "c"]), ledger)
    model.complete(ASK, options=Options())
    mark = len(ledger)
    assert len(ledger.drain()) == 1
    model.complete(ASK, options=Options())
    assert ledger.since(mark) == ledger.drain()
    assert ledger.drain() == ()
    assert len(ledger) == 2


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 200))
def test_what_is_reserved_and_used_never_passes_the_limit(used: list[int], limit: int) -> None:
    ledger = Ledger(max_tokens=limit)
    for tokens in used:
        try:
            ledger.reserve(tokens=50)
        except BudgetError:
            assert ledger.tokens + 50 > limit
            continue
        call = Call(role="answer", model="m", usage=Usage(tokens_out=tokens))
        ledger.settle(call, tokens=50)
    assert ledger.tokens <= limit


def test_threads_together_never_pass_the_limit() -> None:
    ledger = Ledger(max_calls=25)
    model = Metered(Scripted(lambda messages, options: "a"), ledger)
    refused: list[int] = []

    def ask() -> None:
        for number in range(20):
            try:
                model.complete(ASK, options=Options())
            except BudgetError:
                refused.append(number)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ledger), len(refused)) == (25, 55)
