import json

import pytest

from learnloop.environments.fields import Fields
from learnloop.environments.patient import profile, short_question


def patient(*evidences, complaint="Do you cough?"):
    findings = [{"question": question, "answers": answers} for question, answers in evidences]
    row = {"age": 7, "sex": "M", "initial_evidence": complaint, "evidences": findings}
    return profile(Fields(row=row, number=1, file="x"))


def test_what_is_answered_with_yes_stands_on_one_line():
    text = patient(
        ("Do you cough?", ["Yes"]),
        ("Do you have a fever (over 38)?", ["Yes"]),
        ("Are your symptoms worse at night?", ["Yes"]),
    )
    assert text.splitlines() == [
        "7 years, male",
        "Complaint: cough",
        "Yes: a fever (over 38); Are your symptoms worse at night",
    ]


def test_other_answers_stand_with_their_question():
    text = patient(
        ("Where does it hurt?", ["chest", "back"]),
        ("How much?", ["4"]),
        ("Have you been abroad?", ["N"]),
        ("Do your lesions peel off?", ["Y"]),
        ("Which colour?", ["NA"]),
    )
    assert text.splitlines() == [
        "7 years, male",
        "Complaint: cough",
        "Where does it hurt: chest, back",
        "How much: 4",
        "been abroad: no",
        "Do your lesions peel off: yes",
        "Which colour: not applicable",
    ]


def test_a_complaint_comes_with_its_answer_and_only_once():
    text = patient(("How much?", ["4"]), complaint="How much?")
    assert text.splitlines() == ["7 years, male", "Complaint: How much: 4"]


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Do you have a cough?", "a cough"),
        ("Have you ever had a stroke?", "ever had a stroke"),
        ("Are you immunosuppressed?", "immunosuppressed"),
        ("Is the rash swollen?", "Is the rash swollen"),
        ("Do you?", "Do you"),
    ],
)
def test_a_question_is_shortened_to_what_it_asks_after(question, short):
    assert short_question(question) == short


def real_rows(folder):
    for path in sorted((folder / "ddxplus").glob("*_*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def test_no_two_real_questions_become_one(benchmark_data):
    rows = list(real_rows(benchmark_data))
    questions = {finding["question"] for row in rows for finding in row["evidences"]}
    assert len({short_question(question) for question in questions}) == len(questions)


def test_nothing_of_a_real_patient_is_left_out(benchmark_data):
    for row in real_rows(benchmark_data):
        text = profile(Fields(row=row, number=1, file="x"))
        for finding in row["evidences"]:
            assert short_question(finding["question"]) in text
            for answer in finding["answers"]:
                assert answer in {"Yes", "Y", "N", "NA"} or answer in text
