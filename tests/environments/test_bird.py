"""The BIRD stream: evidence, difficulty, odd names of columns, the day of the data, real rows."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.bird import bird
from learnloop.errors import DataError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"

ROWS = [
    {
        "question_id": 20,
        "db_id": "schools",
        "question": "What is the highest rate of free meals?",
        "evidence": "rate of free meals = `Free Meal Count (K-12)` / `Enrollment (K-12)`",
        "SQL": "SELECT `Free Meal Count (K-12)` * 1.0 / `Enrollment (K-12)` FROM `school list` "
        "ORDER BY `Free Meal Count (K-12)` * 1.0 / `Enrollment (K-12)` DESC LIMIT 1",
        "difficulty": "simple",
        "in_mini_dev": True,
    },
    {
        "question_id": 7,
        "db_id": "schools",
        "question": "How many are older than 100 years?",
        "evidence": "",
        "SQL": "SELECT count(*) FROM `school list` WHERE strftime('%Y', 'now') - opened > 100",
        "difficulty": "challenging",
        "in_mini_dev": False,
    },
    {"question_id": 3, "db_id": "schools", "question": "Which?", "SQL": 'SELECT "a ""b" FROM odd'},
]
SCRIPT = """
CREATE TABLE "school list" (
    "Free Meal Count (K-12)" REAL, `Enrollment (K-12)` REAL, [2013-14 Fiscal Year] TEXT,
    opened INTEGER, "order" INTEGER
);
CREATE TABLE odd ("a ""b" TEXT, "100" INTEGER, "größe" TEXT);
INSERT INTO "school list" VALUES (5, 20, 'x', 1922, 1), (10, 20, 'y', 1924, 2);
INSERT INTO odd VALUES ('z', 1, 'w');
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    root = tmp_path / "bird"
    (root / "database" / "schools").mkdir(parents=True)
    path = root / "database" / "schools" / "schools.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    write(root / "dev.jsonl", ROWS)
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    return root


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def answered(environment, reply=None):
    """Return the queries and scores of a stream; gold is the answer where none is given."""
    query, seen = environment.reset(seed=42), {}
    while query is not None:
        text = environment.task.parse(reply or environment.gold(query))
        step = environment.step(Prediction(query_id=query.id, text=text))
        seen[query.id] = (query, step.score)
        query = step.query
    return seen


@pytest.mark.parametrize(
    "make",
    [bird, partial(bird, evidence=True), partial(ENVIRONMENTS.create, "bird_published")],
    ids=["default", "evidence", "published"],
)
def test_it_keeps_what_every_environment_promises(folder, make):
    check_environment(make)


def test_gold_is_right_and_tagged_with_difficulty_and_mini_dev(folder):
    seen = answered(bird())
    assert {score.value for _, score in seen.values()} == {1.0}
    assert {id: score.tags for id, (_, score) in seen.items()} == {
        "bird-20": ("simple", "mini_dev"),
        "bird-7": ("challenging",),
        "bird-3": (),
    }


@pytest.mark.parametrize("name", ["bird", "bird_published"])
def test_evidence_is_not_shown(folder, name):
    seen = answered(ENVIRONMENTS.create(name))
    assert seen["bird-20"][0].text == "What is the highest rate of free meals?"


def test_evidence_is_shown_where_asked_and_there_is_some(folder):
    environment = bird(evidence=True)
    seen = answered(environment)
    assert seen["bird-20"][0].text.splitlines() == [
        "What is the highest rate of free meals?",
        "Hint: rate of free meals = `Free Meal Count (K-12)` / `Enrollment (K-12)`",
    ]
    assert seen["bird-7"][0].text == "How many are older than 100 years?"
    assert environment.id == "bird_evidence-v1"
    assert "evidence of each question is shown" in environment.note


def test_the_prompt_with_evidence_looks_as_in_the_snapshot(folder):
    environment = bird(evidence=True)
    query = answered(environment)["bird-20"][0]
    messages = Composer().compose(environment.task, query).messages
    shown = "\n\n".join(f"=== {one.role} ===\n{one.content}" for one in messages)
    assert shown + "\n" == (SNAPSHOTS / "bird_evidence.txt").read_text(encoding="utf-8")


def test_odd_names_are_quoted_so_that_the_schema_can_be_read_as_sql(folder):
    query = next(iter(answered(bird()).values()))[0]
    assert query.context.splitlines() == [
        'CREATE TABLE "school list" ("Free Meal Count (K-12)" real, "Enrollment (K-12)" real, '
        '"2013-14 Fiscal Year" text, opened integer, "order" integer);',
        'CREATE TABLE odd ("a ""b" text, "100" integer, größe text);',
    ]
    with closing(sqlite3.connect(":memory:")) as copy:
        copy.executescript(query.context)
        copy.execute('SELECT "Free Meal Count (K-12)", "2013-14 Fiscal Year" FROM "school list"')


def test_today_is_the_same_on_every_day(folder):
    one = answered(bird(), reply="SELECT count(*) FROM `school list` WHERE opened < 1923")
    assert one["bird-7"][1].value == 1.0  # 2023 - 1922 is over 100, 2023 - 1924 is not


def test_a_subset_says_so(folder):
    assert bird().note == "a subset: 3 of the 1,534 published queries"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SQL": ""}, r"bird/dev\.jsonl, row 2: SQL must be text, got ''"),
        ({"db_id": 3}, "row 2: db_id must be text, got 3"),
        ({"question": None}, "row 2: question must be text"),
    ],
)
def test_a_malformed_row_is_named(folder, change, message):
    write(folder / "dev.jsonl", [ROWS[0], {**ROWS[1], **change}])
    with pytest.raises(DataError, match=message):
        bird()


def test_evidence_that_is_no_text_is_named(folder):
    write(folder / "dev.jsonl", [{**ROWS[0], "evidence": 7}])
    with pytest.raises(DataError, match="row 1: evidence must be text, got 7"):
        bird(evidence=True)


@pytest.mark.usefixtures("benchmark_data")
@pytest.mark.parametrize("name", ["bird", "bird_published"])
def test_every_real_gold_query_is_right(name):
    scores = [score for _, score in answered(ENVIRONMENTS.create(name)).values()]
    assert {score.value for score in scores} == {1.0}
    assert len(scores) == 129
    assert sum("mini_dev" in score.tags for score in scores) == 52
    assert sum("challenging" in score.tags for score in scores) == 15
