import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.diagnosis import Diagnoses

KNOWN = Diagnoses(
    ["Anemia", "Guillain-Barré syndrome", "Stable angina", "Unstable angina", "HIV (early)", "GERD"]
)


def test_diagnoses_are_numbered_from_zero():
    assert KNOWN.options.splitlines()[0] == "0. Anemia"
    assert KNOWN.options.splitlines()[-1] == "5. GERD"


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("3. Unstable angina", 3),
        ("3", 3),
        (" 3.\n", 3),
        ("**3**", 3),
        ("(3) Unstable angina", 3),
        ("Number 3", 3),
        ("unstable ANGINA", 3),
        ("stable angina", 2),
        ("Guillain Barre Syndrome", 1),
        ("hiv early", 4),
        ('{"answer": "3. Unstable angina"}', 3),
        ('{"answer": 3}', 3),
        ("Diagnosis: 3", 3),
        ("The patient is 4 or 5.\nThe diagnosis is 3", 3),
        ("Age 4. Not 2. The answer is 5. GERD", 5),
        ("5. Stable angina", 2),  # the name counts more than a number that is not its own
        ("0. No, rather 5. GERD", 5),  # a number with its own name counts most
        ("81. GERD", 5),
        ("34-year-old with GERD", 5),
        ("It may be anemia, or GERD", 0),
        ("It is most likely 5.", 5),
        ("Diagnosis:\n5. GERD", 5),
        ("GERD. Diagnosis: see above", 5),
    ],
)
def test_a_diagnosis_is_read_from_number_or_name(reply, number):
    assert KNOWN.parse(reply) == KNOWN.text(number)


@pytest.mark.parametrize("reply", ["", "6", "99.", "a cold", "2.5 mg", "-", "GERDA", "unstable"])
def test_what_names_no_diagnosis_stays_as_it_is(reply):
    assert KNOWN.parse(reply) == reply


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("3. Unstable angina", "3. Unstable angina"),
        ("2. Unstable angina", "2. Stable angina"),  # the name is not looked at
        ("Aged 4.5 years: 3. Unstable angina", "4. HIV (early)"),  # the first number, come what may
        ("The answer is:\n03.", "3. Unstable angina"),
        ("<3>. <Unstable angina>", "3. Unstable angina"),
        ("<Unstable angina>", "6. none of the listed diagnoses"),
        ("3", "6. none of the listed diagnoses"),  # no point
        ("Unstable angina", "6. none of the listed diagnoses"),
        ("81. Or 3. Unstable angina", "6. none of the listed diagnoses"),
        ("9" * 6000 + ".", "6. none of the listed diagnoses"),
        ("", "6. none of the listed diagnoses"),
    ],
)
def test_published_reading_takes_the_first_number_with_a_point(reply, answer):
    assert KNOWN.parse_published(reply) == answer


@pytest.mark.parametrize("number", range(6))
def test_every_answer_is_read_as_itself(number):
    answer = KNOWN.text(number)
    assert KNOWN.parse(answer) == KNOWN.parse_published(answer) == answer


pieces = st.sampled_from(
    ["GERD", "anemia", "3", ".", ":", " ", "\n", "answer", "is", "\ud800", "²"]
)


@given(st.text() | st.lists(pieces).map("".join))
def test_no_reply_breaks_a_parser(reply):
    KNOWN.parse(reply).encode("utf-8")
    assert KNOWN.parse_published(reply)[1] == "."


@pytest.mark.parametrize("piece", ["1", "1 ", " ", "answer is ", "é", "unstable "])
def test_a_reply_without_end_is_read_to_a_limit(piece):
    assert len(KNOWN.parse(piece * 50_000)) < 30_000
    assert KNOWN.parse_published(piece * 50_000).startswith("6. ")
