import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.llm.lanes import Lane, Lanes


def borrow_all(lanes: Lanes, prefixes: Sequence[str | None]) -> list[Lane]:
    lent = []
    for prefix in prefixes:
        with lanes.borrow(prefix) as lane:
            lent.append(lane)
    return lent


def test_two_prefixes_that_take_turns_never_evict_each_other() -> None:
    lent = borrow_all(Lanes(slots=1, lanes=2), ["answer", "policy"] * 3)
    assert [lane.number for lane in lent] == [0, 1] * 3
    assert [lane.warm for lane in lent] == [False, False, True, True, True, True]


def test_the_lane_unused_for_longest_is_given_to_a_new_prefix() -> None:
    lent = borrow_all(Lanes(slots=1, lanes=2), ["a", "b", "a", "c", "a", "b"])
    assert [lane.warm for lane in lent] == [False, False, True, False, True, False]


def test_without_a_prefix_a_lane_is_never_warm() -> None:
    lent = borrow_all(Lanes(slots=1, lanes=2), [None, None, "a", None, "a"])
    assert [lane.warm for lane in lent] == [False, False, False, False, True]


def test_a_failed_call_leaves_its_lane_cold() -> None:
    lanes = Lanes(slots=1, lanes=1)
    borrow_all(lanes, ["a"])

    def fail() -> None:
        with lanes.borrow("a") as lane:
            assert lane.warm
            raise RuntimeError("the engine stopped")

    with pytest.raises(RuntimeError):
        fail()
    assert [lane.warm for lane in borrow_all(lanes, ["a", "a"])] == [False, True]


@given(st.lists(st.sampled_from([None, "a", "b", "c", "d"]), max_size=30), st.integers(1, 4))
def test_a_warm_lane_was_last_used_with_the_same_prefix(
    prefixes: list[str | None], count: int
) -> None:
    held: dict[int, str | None] = {}
    lent = borrow_all(Lanes(slots=1, lanes=count), prefixes)
    for prefix, lane in zip(prefixes, lent, strict=True):
        assert lane.warm == (prefix is not None and held.get(lane.number) == prefix)
        held[lane.number] = prefix


def test_no_more_calls_run_at_once_than_there_are_slots() -> None:
    lanes, lock = Lanes(slots=2, lanes=5), threading.Lock()
    inside: list[int] = []
    most: list[int] = []

    def call(prefix: str) -> None:
        for _ in range(50):
            with lanes.borrow(prefix) as lane:
                with lock:
                    assert lane.number not in inside
                    inside.append(lane.number)
                    most.append(len(inside))
                with lock:
                    inside.remove(lane.number)

    threads = [threading.Thread(target=call, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 200
    assert max(most) <= 2
