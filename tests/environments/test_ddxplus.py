import json
from functools import partial
from pathlib import Path

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.ddxplus import ddxplus, ddxplus_published
from learnloop.errors import DataError, ParameterError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"
EDITIONS = pytest.mark.parametrize("make", [ddxplus, ddxplus_published])

LABELS = [
    "Common cold",
    *(f"Illness {n:02d}" for n in range(46)),
    "Ménière disease",
    "Sprained ankle",
]

FOUND = {
    "row": "815",
    "age": 40,
    "sex": "F",
    "pathology": "Ménière disease",
    "initial_evidence": "Do you feel dizzy?",
    "evidences": [
        {"question": "Do you feel dizzy?", "answers": ["Yes"]},
        {"question": "Have you lost some of your hearing?", "answers": ["Yes"]},
        {"question": "Where is the ringing located?", "answers": ["ear(R)", "ear(L)"]},
        {"question": "Have you been abroad?", "answers": ["N"]},
        {"question": "Do you hear a ringing?", "answers": ["Yes"]},
    ],
}
TOLD = {
    "PATIENT_PROFILE": "\nAge: 40\nSex: Female\nI feel dizzy. I hear a ringing in both ears.\n",
    "PATHOLOGY": "Ménière Disease",
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files into the data folder, which the environments then read."""
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    (tmp_path / "ddxplus").mkdir()
    (tmp_path / "ddxplus" / "labels49.json").write_text(json.dumps(LABELS), encoding="utf-8")

    def write_rows(rows, name="validate_588.jsonl"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "ddxplus" / name).write_text(lines, encoding="utf-8")
        return tmp_path / "ddxplus"

    return write_rows


@pytest.fixture
def real(benchmark_data):
    """Whether real rows are there; skips where not."""
    if not (benchmark_data / "ddxplus").is_dir():
        pytest.skip("needs the rows of DDXPlus in LEARNLOOP_DATA")


def score(environment, reply):
    query = environment.reset(seed=1)
    prediction = Prediction(query_id=query.id, text=environment.task.parse(reply))
    return environment.step(prediction)


@pytest.mark.parametrize("name", ["ddxplus", "ddxplus_published"])
def test_the_contract_of_environments_holds(write, name):
    write([FOUND, {**FOUND, "row": "816", "pathology": "Common cold"}])
    make = partial(ENVIRONMENTS.create, name)
    check_environment(make, gold_may_appear=True)  # it is one of the diagnoses to choose from


@EDITIONS
def test_the_number_with_the_name_is_right_in_both_editions(write, make):
    write([FOUND])
    step = score(make(), "47. Ménière disease")
    assert step.score.value == 1.0
    assert step.feedback.correct
    assert step.feedback.comment is None


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("47", (1.0, 0.0)),
        ("meniere DISEASE", (1.0, 0.0)),
        ("Aged 40.5 years. Diagnosis: 47. Ménière disease", (1.0, 0.0)),
        ("Illness 03 or 47. Ménière disease", (1.0, 1.0)),
        ("47. Common cold", (0.0, 1.0)),
        ("48. Sprained ankle", (0.0, 0.0)),
        ("no idea", (0.0, 0.0)),
    ],
)
def test_what_each_edition_makes_of_a_reply(write, reply, values):
    write([FOUND])
    found = tuple(score(make(), reply).score.value for make in (ddxplus, ddxplus_published))
    assert found == values


def test_a_wrong_answer_is_corrected_with_number_and_name(write):
    write([FOUND])
    step = score(ddxplus(), "0. Common cold")
    assert step.feedback.correction == step.score.gold == "47. Ménière disease"
    assert step.feedback.comment == "That is not the diagnosis."


def test_published_answers_out_of_the_list_have_the_number_after_the_last(write):
    write([FOUND])
    task = ddxplus_published().task
    assert task.parse("I cannot tell") == task.parse("81.") == "49. none of the listed diagnoses"


def test_the_options_never_change_and_stand_in_the_instructions(write):
    write([FOUND])
    options = ddxplus().task.instructions.splitlines()[-49:]
    assert options == [f"{number}. {name}" for number, name in enumerate(LABELS)]


def test_published_options_stand_before_the_examples_and_the_patient_behind(write):
    write([FOUND])
    write([{**FOUND, "row": "1", "age": 7}], "train_98.jsonl")
    environment = ddxplus_published()
    query, shown = environment.reset(seed=1), environment.demonstrations(k=1)
    (message,) = Composer(layout="paper").compose(environment.task, query, examples=shown).messages
    options = "\n".join(f"{number}. {name}" for number, name in enumerate(LABELS))
    places = [message.content.index(part) for part in (options, "7 years", "40 years")]
    assert places == sorted(places)
    assert message.content.count(options) == 1


@EDITIONS
def test_a_profile_that_is_there_is_taken_as_it_is(write, make):
    write([TOLD], "stream.jsonl")
    environment = make()
    query = environment.reset(seed=42)
    assert query.text == "Age: 40\nSex: Female\nI feel dizzy. I hear a ringing in both ears."
    assert query.id == "ddxplus-1"
    assert environment.gold(query) == "47. Ménière disease"
    assert environment.note == "a subset: 1 of the 1,764 published queries"


def test_other_patients_are_named_in_the_note(write):
    write([FOUND])
    assert "other patients than the published ones" in ddxplus().note
    assert ddxplus().reset(seed=42).id == "ddxplus-815"


def test_the_whole_stream_has_nothing_to_note(write):
    write([TOLD] * 1764, "stream.jsonl")
    assert ddxplus().note == ""


def test_demonstrations_are_none_of_the_stream_and_not_sorted_by_diagnosis(write):
    write([FOUND])
    with pytest.raises(ParameterError, match="0 demonstrations"):
        ddxplus().demonstrations(k=1)
    write([{**FOUND, "row": str(n), "pathology": LABELS[n]} for n in range(49)], "train_98.jsonl")
    shown = [episode.answer for episode in ddxplus().demonstrations(k=49)]
    assert sorted(shown) == sorted(f"{n}. {name}" for n, name in enumerate(LABELS))
    assert shown != [f"{n}. {name}" for n, name in enumerate(LABELS)]


def test_demonstrations_of_the_whole_stream_are_the_published_ones_where_they_are(write):
    write([TOLD], "stream.jsonl")
    write([FOUND], "train_98.jsonl")
    assert ddxplus().demonstrations(k=1)[0].query.text.startswith("40 years, female")
    write([TOLD], "validate.jsonl")
    assert ddxplus().demonstrations(k=1)[0].query.text.startswith("Age: 40")


def test_diagnoses_may_be_named_by_the_stream_alone(write):
    folder = write([{**TOLD, "PATHOLOGY": name} for name in reversed(LABELS)], "stream.jsonl")
    (folder / "labels49.json").unlink()
    environment = ddxplus(order="given")
    assert environment.gold(environment.reset(seed=1)) == "48. Sprained ankle"
    write([TOLD], "stream.jsonl")
    with pytest.raises(DataError, match="must name 49 diagnoses"):
        ddxplus()


@pytest.mark.parametrize("text", ["[", "{}", '["Anemia"]', "[1, 2]"])
def test_labels_that_are_not_49_names_are_refused(write, text):
    (write([FOUND]) / "labels49.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"labels49\.json"):
        ddxplus()


@EDITIONS
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pathology": "Boredom"}, "pathology must be one of the 49 diagnoses, got 'Boredom'"),
        ({"pathology": None}, "pathology must be text, got None"),
        ({"age": "40"}, "age must be a whole number, got '40'"),
        ({"sex": "X"}, "sex must be 'F' or 'M', got 'X'"),
        ({"initial_evidence": 3}, "initial_evidence must be text, got 3"),
        ({"evidences": []}, "evidences must be a list of questions"),
        ({"evidences": ["dizzy"]}, "evidences must each have a question and answers, got 'dizzy'"),
        ({"evidences": [{"question": "Why?", "answers": []}]}, "evidences must each have"),
        ({"PATIENT_PROFILE": ""}, "PATIENT_PROFILE must be text, got ''"),
    ],
)
def test_a_malformed_row_is_named(write, make, change, message):
    write([FOUND, {**FOUND, "row": "816", **change}])
    with pytest.raises(DataError, match=r"ddxplus/validate_588\.jsonl, row 2: " + message):
        make()


@pytest.mark.parametrize(("name", "layout"), [("ddxplus", "cache"), ("ddxplus_published", "paper")])
def test_the_whole_prompt_looks_as_in_the_snapshot(write, name, layout):
    write([FOUND])
    environment = ENVIRONMENTS.create(name)
    query = environment.reset(seed=1)
    messages = Composer(layout=layout).compose(environment.task, query).messages
    shown = "\n\n".join(f"=== {message.role} ===\n{message.content}" for message in messages)
    assert shown + "\n" == (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("real")
@EDITIONS
def test_gold_as_the_reply_is_right_on_every_real_row(make):
    environment = make()
    query, count, diagnoses = environment.reset(seed=42), 0, set()
    while query is not None:
        gold = environment.gold(query)
        text = environment.task.parse(gold)
        step = environment.step(Prediction(query_id=query.id, text=text))
        assert step.score.value == 1.0, query.id
        diagnoses.add(gold)
        query, count = step.query, count + 1
    assert count == len(environment) >= 588
    assert len(diagnoses) == 49


@pytest.mark.usefixtures("real")
def test_the_name_alone_and_the_number_alone_are_right_on_every_real_diagnosis():
    task = ddxplus().task
    for option in task.instructions.splitlines()[-49:]:
        number, _, name = option.partition(". ")
        assert task.parse(name.upper()) == task.parse(number) == task.parse(option) == option


def test_real_labels_stand_in_the_order_of_their_letters(real, benchmark_data):
    labels = json.loads((benchmark_data / "ddxplus" / "labels49.json").read_text(encoding="utf-8"))
    assert labels == sorted(labels)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["ddxplus", "ddxplus_published"])
def test_the_contract_holds_on_real_rows(name):
    check_environment(partial(ENVIRONMENTS.create, name), gold_may_appear=True)
