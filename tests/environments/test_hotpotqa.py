import json
from functools import partial
from pathlib import Path

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.hotpotqa import hotpotqa, hotpotqa_published
from learnloop.errors import DataError, ParameterError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"
EDITIONS = pytest.mark.parametrize("make", [hotpotqa, hotpotqa_published])

ROWS = [
    {
        "id": "mill",
        "question": "In which town was the owner of the Grey Mill born?",
        "answer": "The Old Town",
        "type": "bridge",
        "level": "hard",
        "gold_titles": ["Ada Stone", "Grey Mill"],
        "context": [
            ["Red Mill", "The Red Mill grinds corn."],
            ["Grey Mill", "The Grey Mill belongs to Ada Stone. It stands by a river."],
            ["Blue Mill", "The Blue Mill is a ruin."],
            ["Ada Stone", "Ada Stone (born 1950 in Old Town) is a miller."],
        ],
    },
    {
        "id": "hills",
        "question": "Are Hill One and Hill Two equally high?",
        "answer": "no",
        "type": "comparison",
        "level": "easy",
        "gold_titles": ["Hill One", "Hill Two"],
        "context": [
            ["Hill One", "Hill One is 300 m high."],
            ["Hill Two", "Hill Two is 400 m high."],
        ],
    },
]

RELEASED = {
    "question": ROWS[0]["question"],
    "answer": ROWS[0]["answer"],
    "supporting_facts": [["Grey Mill", 0], ["Ada Stone", 0]],
    "context": [[title, [text]] for title, text in ROWS[0]["context"]],
}
ORIGINAL = {
    "question": ROWS[0]["question"],
    "answer": ROWS[0]["answer"],
    "supporting_facts": {"title": ["Grey Mill", "Ada Stone"], "sent_id": [0, 0]},
    "context": {
        "title": [title for title, _ in ROWS[0]["context"]],
        "sentences": [
            ["The Red Mill grinds corn."],
            ["The Grey Mill belongs to Ada Stone.", " It stands by a river."],
            ["The Blue Mill is a ruin."],
            ["Ada Stone (born 1950 in Old Town) is a miller."],
        ],
    },
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write rows into a file of the data folder, which the environments then read."""
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))

    def write_rows(rows, name="stream.jsonl"):
        (tmp_path / "hotpotqa").mkdir(exist_ok=True)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "hotpotqa" / name).write_text(lines, encoding="utf-8")

    return write_rows


@pytest.fixture
def real(benchmark_data):
    """Whether real rows are there; skips where not."""
    if not (benchmark_data / "hotpotqa").is_dir():
        pytest.skip("needs the rows of HotpotQA in LEARNLOOP_DATA")


def answers(environment, replies):
    """Return the steps of a stream in the order given, for the replies of a model."""
    query, steps = environment.reset(seed=1), []
    for reply in replies:
        text = environment.task.parse(reply)
        steps.append(environment.step(Prediction(query_id=query.id, text=text)))
        query = steps[-1].query
    return steps


def first(environment):
    return environment.reset(seed=1)


@pytest.mark.parametrize("name", ["hotpotqa", "hotpotqa_published"])
def test_the_contract_of_environments_holds(write, name):
    write(ROWS)
    check_environment(partial(ENVIRONMENTS.create, name))


@EDITIONS
def test_the_right_answer_scores_in_the_form_asked_for(write, make):
    write(ROWS)
    replies = ['{"answer": "old town"}', 'Sure: {"answer": "No."}']
    steps = answers(make(order="given"), replies)
    assert [step.score.value for step in steps] == [1.0, 1.0]
    assert [step.feedback.correct for step in steps] == [True, True]


def test_f1_stands_beside_the_score_with_kind_and_level(write):
    write(ROWS)
    partly, wrong = answers(hotpotqa(order="given"), ["Old Town in Wales", "Answer: yes"])
    assert partly.score.value == wrong.score.value == 0.0
    assert partly.score.tags == ("bridge", "hard", "f1=0.67")  # 2 of 4 words, 2 of 2
    assert wrong.score.tags == ("comparison", "easy", "f1=0.00")


def test_a_wrong_answer_is_told_with_the_right_one_in_the_form_of_answers(write):
    write(ROWS)
    (step,) = answers(hotpotqa(order="given"), ["the river"])
    assert step.feedback.correction == '{"answer": "The Old Town"}'
    assert step.feedback.comment == "That is not the answer to the question."


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"answer": false}', (1.0, 0.0)),  # crashes the published run
        ('} {"answer": "no"}', (1.0, 0.0)),  # crashes it too
        ("Answer: no", (1.0, 0.0)),
        ("No.", (1.0, 1.0)),
    ],
)
def test_what_only_the_default_edition_reads(write, reply, value):
    write(ROWS[1:])
    (mended,) = answers(hotpotqa(), [reply])
    (published,) = answers(hotpotqa_published(), [reply])
    assert (mended.score.value, published.score.value) == value


def test_a_reply_that_crashes_the_published_run_is_named_and_the_stream_goes_on(write):
    write(ROWS)
    crashed, after = answers(
        hotpotqa_published(order="given"), ['{"answer": ["Old Town"]}', '{"answer": "no"}']
    )
    assert crashed.score.why == "the published code crashes on this reply"
    assert crashed.score.tags[-1] == "f1=0.00"
    assert after.score.value == 1.0


def test_published_episodes_are_kept_under_context_and_question(write):
    write(ROWS[1:])
    query = first(hotpotqa_published())
    assert query.text == "Are Hill One and Hill Two equally high?"
    assert query.key.startswith("Context:\n```\nTitle: Hill One\nParagraph: Hill One is 300 m")
    assert query.key.endswith("```\nQuestion: Are Hill One and Hill Two equally high?")
    assert first(hotpotqa()).key == ""


def test_examples_come_with_their_paragraphs(write):
    write(ROWS)
    for make in (hotpotqa, hotpotqa_published):
        assert make().task.context_in_examples
        assert not make().task.shared_context


@EDITIONS
@pytest.mark.parametrize("row", [ORIGINAL, RELEASED], ids=["original", "released"])
def test_every_form_of_a_row_gives_the_same_query(write, make, row):
    write(ROWS[:1])
    query = first(make())
    write([row])
    other = first(make())
    assert other.id == "hotpotqa-1"
    assert (other.text, other.context, other.key) == (query.text, query.context, query.key)


@pytest.mark.parametrize(
    ("contexts", "titles"),
    [
        (2, ["Grey Mill", "Ada Stone"]),
        (3, ["Red Mill", "Grey Mill", "Ada Stone"]),
        (4, ["Red Mill", "Grey Mill", "Blue Mill", "Ada Stone"]),
        (9, ["Red Mill", "Grey Mill", "Blue Mill", "Ada Stone"]),
    ],
)
@pytest.mark.parametrize("row", [ROWS[0], ORIGINAL, RELEASED], ids=["ours", "original", "released"])
def test_fewer_paragraphs_keep_those_of_the_answer_in_their_order(write, row, contexts, titles):
    write([row])
    environment = hotpotqa(contexts=contexts)
    shown = [part.splitlines()[0] for part in first(environment).context.split("\n\n")]
    assert shown == titles
    assert environment.id == f"hotpotqa_{contexts}_paragraphs-v1"
    assert "not the published task" in environment.note


def test_a_single_paragraph_is_refused(write):
    write(ROWS)
    with pytest.raises(ParameterError, match="contexts must be at least 2"):
        hotpotqa(contexts=1)


def test_the_stream_is_the_first_1500_rows(write):
    write([{**ROWS[1], "id": str(n)} for n in range(1502)])
    environment = hotpotqa()
    assert len(environment) == 1500
    assert environment.note == ""
    assert environment.gold(first(environment))
    ids = [item.query.id for item in environment.demonstrations(k=0)]
    assert ids == []


def test_files_are_taken_in_the_order_of_trust(write):
    write([ORIGINAL], "distractor_dev100_exact.jsonl")
    assert first(hotpotqa()).id == "hotpotqa-1"
    write(ROWS[1:], "distractor_dev500.jsonl")
    assert first(hotpotqa()).id == "hotpotqa-hills"
    write(ROWS[:1], "stream.jsonl")
    assert first(hotpotqa()).id == "hotpotqa-mill"


def test_demonstrations_come_from_the_training_rows_where_they_are(write):
    write(ROWS[:1])
    with pytest.raises(ParameterError, match="0 demonstrations"):
        hotpotqa().demonstrations(k=1)
    write(ROWS, "train.jsonl")
    _, second = hotpotqa().demonstrations(k=2)
    assert (second.id, second.answer) == ("hotpotqa-train-hills", '{"answer": "no"}')
    assert second.query.context


@EDITIONS
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": None}, "row 2: question must be text"),
        ({"answer": 3}, "row 2: answer must be text, got 3"),
        ({"context": "text"}, r"row 2: context must be a list of \[title, text\]"),
        ({"context": []}, "row 2: context must have as many titles as texts, and one at least"),
        ({"context": [["a", "b", "c"]]}, "row 2: context must be a list of"),
        ({"context": [["a", None]]}, "row 2: context must hold texts"),
        ({"context": {"title": ["a"]}}, "row 2: context must have as many"),
        ({"context": {"title": ["a"], "sentences": [[3]]}}, "row 2: context must hold texts"),
        ({"context": {"title": [1], "sentences": [[""]]}}, r"row 2: context\.title must be a"),
    ],
)
def test_a_malformed_row_is_named(write, make, change, message):
    write([ROWS[0], {**ROWS[1], **change}])
    with pytest.raises(DataError, match=r"hotpotqa/stream\.jsonl, " + message):
        make()


def test_fewer_paragraphs_need_to_know_which_hold_the_answer(write):
    write([{key: value for key, value in ROWS[0].items() if key != "gold_titles"}])
    with pytest.raises(DataError, match=r"row 1: supporting_facts\.title must be a list"):
        hotpotqa(contexts=2)
    write([{**ROWS[0], "gold_titles": ["Nowhere"]}])
    with pytest.raises(DataError, match="row 1: context lacks the paragraph 'Nowhere'"):
        hotpotqa(contexts=2)


@pytest.mark.parametrize(
    ("name", "layout"), [("hotpotqa", "cache"), ("hotpotqa_published", "paper")]
)
def test_the_whole_prompt_looks_as_in_the_snapshot(write, name, layout):
    write(ROWS[:1])
    environment = ENVIRONMENTS.create(name)
    messages = Composer(layout=layout).compose(environment.task, first(environment)).messages
    shown = "\n\n".join(f"=== {message.role} ===\n{message.content}" for message in messages)
    assert shown + "\n" == (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("real")
@EDITIONS
def test_gold_as_the_reply_is_right_on_every_real_row(make):
    environment = make()
    query, count = environment.reset(seed=42), 0
    while query is not None:
        text = environment.task.parse(environment.gold(query))
        step = environment.step(Prediction(query_id=query.id, text=text))
        assert step.score.value == 1.0, query.id
        if make is hotpotqa:  # published F1 is below 1 where the gold says a word twice
            assert step.score.tags[-1] == "f1=1.00", query.id
        query, count = step.query, count + 1
    assert count == len(environment) >= 100


@pytest.mark.usefixtures("real")
def test_few_paragraphs_are_shorter_and_from_the_same_real_rows():
    whole, few = hotpotqa(order="given"), hotpotqa(order="given", contexts=2)
    assert len(whole) == len(few)
    assert len(first(few).context) < len(first(whole).context)
    assert set(first(few).context.split("\n\n")) <= set(first(whole).context.split("\n\n"))


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["hotpotqa", "hotpotqa_published"])
def test_the_contract_holds_on_real_rows(name):
    check_environment(partial(ENVIRONMENTS.create, name))
