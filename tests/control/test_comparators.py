import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.comparators import DistanceComparator, LabelComparator
from learnloop.errors import ParameterError
from learnloop.types import Feedback, Prediction

NUMBERS = st.integers(-200, 200)


def answer(text):
    return Prediction(query_id="q", text=text)


def seen(**parts):
    return Feedback(id="f", target_id="q", **parts)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"observed": "Red"}, 0.0),
        ({"observed": "Blue"}, 1.0),
        ({"observed": "Red", "correct": False}, 0.0),
        ({"correct": True}, 0.0),
        ({"correct": False}, 1.0),
        ({"correction": "Red"}, 0.0),
        ({"correction": "Blue"}, 1.0),
        ({"correct": True, "correction": "Blue"}, 0.0),
    ],
)
def test_a_label_is_met_or_missed(parts, error):
    assert LabelComparator().compare(answer("Red"), seen(**parts)).error == error


@pytest.mark.parametrize("comparator", [LabelComparator(), DistanceComparator(bucket=10)])
@pytest.mark.parametrize("parts", [{}, {"comment": "Hm."}, {"value": 0.3}])
def test_what_judges_nothing_is_no_error(comparator, parts):
    assert comparator.compare(answer("5"), seen(**parts)) is None


@pytest.mark.parametrize("comparator", [LabelComparator(), DistanceComparator(bucket=10)])
def test_there_are_words_on_a_mismatch_only(comparator):
    missed = comparator.compare(answer("5"), seen(observed="40", comment="too low"))
    met = comparator.compare(answer("40"), seen(observed="40", comment="too low"))
    assert (missed.words, met.words) == ("too low", "")


@pytest.mark.parametrize(
    ("text", "observed", "error"),
    [
        ("65", "61-70", 0.0),
        ("61", "61-70", 0.0),
        ("70", "61-70", 0.0),
        ("71", "61-70", 0.25),
        ("79", "61-70", 0.25),
        ("80", "61-70", 0.5),
        ("51", "61-70", 0.5),
        ("1", "61-70", 1.0),
        ("50", "50", 0.0),
        ("49", "50", 0.25),
        ("-4", "-9 - -3", 0.0),
        ("-10", "-9--3", 0.25),
        ("about 60", "61-70", 1.0),
        ("", "61-70", 1.0),
    ],
)
def test_a_number_is_off_by_classes_of_distance(text, observed, error):
    comparator = DistanceComparator(bucket=10, near=0.25, full=3)
    assert comparator.compare(answer(text), seen(observed=observed)).error == error


@given(
    number=NUMBERS,
    low=NUMBERS,
    width=st.integers(0, 30),
    bucket=st.integers(1, 20),
    full=st.integers(1, 5),
)
def test_the_error_of_a_number_is_a_count_of_classes(number, low, width, bucket, full):
    high = low + width
    off = min(abs(number - inside) for inside in range(low, high + 1))
    classes = 0 if off == 0 else 1 + off // bucket
    found = DistanceComparator(bucket=bucket, near=1 / (full + 1), full=full).compare(
        answer(str(number)), seen(observed=f"{low}-{high}")
    )
    assert found.error == pytest.approx(min(1.0, classes / (full + 1)))


@pytest.mark.parametrize("observed", ["high", "61-", "1e3", "٣"])
def test_an_observation_that_is_no_number_leaves_right_and_wrong(observed):
    comparator = DistanceComparator(bucket=10)
    assert comparator.compare(answer("5"), seen(observed=observed)) is None
    assert comparator.compare(answer("5"), seen(observed=observed, correct=False)).error == 1.0
    assert comparator.compare(answer("5"), seen(observed=observed, correct=True)).error == 0.0


@pytest.mark.parametrize("params", [{"bucket": 0}, {"bucket": 5, "full": 0}])
def test_classes_have_a_width_and_a_number(params):
    with pytest.raises(ParameterError, match="at least 1"):
        DistanceComparator(**params)
