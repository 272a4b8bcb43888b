import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.hints import Hint, false_hints, true_hint

NUMBERS = st.integers(1, 100)
WIDTHS = st.integers(1, 40)


@pytest.mark.parametrize(
    ("answer", "number", "words", "interval"),
    [
        (50, 50, None, "50"),
        (50, 51, "50 is too low by 1-9", "51-59"),
        (50, 59, "50 is too low by 1-9", "51-59"),
        (50, 60, "50 is too low by 10-19", "60-69"),
        (50, 69, "50 is too low by 10-19", "60-69"),
        (50, 49, "50 is too high by 1-9", "41-49"),
        (50, 31, "50 is too high by 10-19", "31-40"),
        (50, 1, "50 is too high by 40-49", "1-10"),
        (85, 100, "85 is too low by 10-19", "95-100"),
        (5, 1, "5 is too high by 1-9", "1-4"),
        (1, 100, "1 is too low by 90-99", "91-100"),
    ],
)
def test_a_hint_gives_the_direction_the_class_of_distance_and_no_more(
    answer, number, words, interval
):
    hint = true_hint(answer, number, width=10)
    assert hint.words == words
    assert str(hint.interval) == interval


@pytest.mark.parametrize(("width", "words"), [(1, "by 3"), (2, "by 2-3"), (5, "by 1-4")])
def test_the_width_of_a_class_is_as_asked(width, words):
    assert true_hint(50, 53, width=width).words == f"50 is too low {words}"


@given(NUMBERS, NUMBERS, WIDTHS)
def test_the_interval_of_a_true_hint_holds_the_number(answer, number, width):
    interval = true_hint(answer, number, width=width).interval
    assert interval.low <= number <= interval.high


@given(NUMBERS, NUMBERS)
def test_a_wrong_direction_mirrors_the_interval_about_the_answer(answer, number):
    """Within 1 to 100: the mirrored numbers that are hidden ones, and none else."""
    if answer == number:
        return
    hint = true_hint(answer, number, width=10)
    alike = [n for n in range(-99, 201) if n != answer and (n > answer) == (number > answer)]
    alike = [n for n in alike if abs(n - answer) // 10 == abs(number - answer) // 10]
    mirrored = [2 * answer - n for n in alike if 1 <= 2 * answer - n <= 100]
    wrong = false_hints(hint, corrupts="direction")
    if not mirrored:
        assert wrong == ()
    else:
        (only,) = wrong
        assert (only.interval.low, only.interval.high) == (min(mirrored), max(mirrored))


def test_a_wrong_direction_keeps_the_distance_in_words():
    (wrong,) = false_hints(true_hint(50, 63, width=10), corrupts="direction")
    assert wrong.words == "50 is too high by 10-19"
    assert str(wrong.interval) == "31-40"


def test_a_direction_that_no_number_allows_cannot_be_wrong():
    assert false_hints(true_hint(20, 75, width=10), corrupts="direction") == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (50, ["50 is too high by 1-9", "50 is too low by 1-9"]),
        (1, ["1 is too low by 1-9"]),
        (100, ["100 is too high by 1-9"]),
    ],
)
def test_a_right_answer_is_wrongly_called_off_by_the_least(answer, words):
    wrong = false_hints(true_hint(answer, answer, width=10), corrupts="direction")
    assert sorted(hint.words for hint in wrong) == words


def test_of_classes_of_one_number_the_least_is_off_by_one():
    wrong = false_hints(true_hint(50, 50, width=1), corrupts="direction")
    assert sorted(hint.words for hint in wrong) == ["50 is too high by 1", "50 is too low by 1"]


def test_a_wrong_message_is_any_other_that_a_number_makes_true():
    """About 50: right, five classes too high (1 to 49), six too low (51 to 100)."""
    hint = true_hint(50, 63, width=10)
    wrong = false_hints(hint, corrupts="message")
    low = {Hint(answer=50, side=1, bucket=bucket, width=10) for bucket in range(6)}
    high = {Hint(answer=50, side=-1, bucket=bucket, width=10) for bucket in range(5)}
    assert set(wrong) == ({Hint(answer=50, side=0, bucket=0, width=10)} | low | high) - {hint}
    assert len(wrong) == 11


@given(NUMBERS, NUMBERS, WIDTHS, st.sampled_from(["direction", "message"]))
def test_a_false_hint_is_false_and_leaves_a_number(answer, number, width, corrupts):
    hint = true_hint(answer, number, width=width)
    for wrong in false_hints(hint, corrupts=corrupts):
        assert wrong.interval is not None
        assert not wrong.interval.low <= number <= wrong.interval.high
