"""The CoSQL stream: turns on their own, whole conversations, gold that does not run, real rows."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.cosql import cosql
from learnloop.environments.sql_published import BROKEN_GOLD
from learnloop.errors import DataError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"

DIALOGUES = [
    {
        "db_id": "pets",
        "turns": [
            {"utterance": "Which pets are there?", "query": "SELECT  name\nFROM pet"},
            {"utterance": "How old are they?", "query": "SELECT age FROM pet"},
            {"utterance": "And the oldest?", "query": "SELECT max(age) FROM pet"},
        ],
    },
    {"db_id": "shop", "turns": [{"utterance": "How many?", "query": "SELECT count(*) FROM pet"}]},
    {
        "db_id": "pets",
        "turns": [
            {"utterance": "Which dogs?", "query": "SELECT 'dog' ) ", "error": "syntax error"},
            {"utterance": "Why?", "query": "SELECT 'a  b'"},
        ],
    },
]
TURNS = [
    {"db_id": "pets", "question": "Which pets are there?", "query": "SELECT name FROM pet"},
    {"db_id": "pets", "question": "Which dogs?", "query": "SELECT dog FROM pet"},
    {"db_id": "shop", "question": "How many?", "query": "SELECT count(*) FROM pet"},
]
EDITIONS = pytest.mark.parametrize(
    "make",
    [cosql, partial(cosql, conversation=True), partial(ENVIRONMENTS.create, "cosql_published")],
    ids=["default", "conversation", "published"],
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("pets", "shop"):
        (tmp_path / "spider" / "database" / name).mkdir(parents=True)
        path = tmp_path / "spider" / "database" / name / f"{name}.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(
                "CREATE TABLE pet (name, age); INSERT INTO pet VALUES ('a', 1)"
            )
    (tmp_path / "cosql").mkdir()
    write(tmp_path / "cosql" / "dev.jsonl", DIALOGUES)
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    return tmp_path / "cosql"


def write(path, rows):
    path.write_text("".join(json.dumps({"id": n, **row}) + "\n" for n, row in enumerate(rows)))


def answered(environment, seed=42):
    """Return the queries and scores of a stream whose every answer is the gold SQL."""
    query, seen = environment.reset(seed=seed), []
    while query is not None:
        text = environment.task.parse(environment.gold(query))
        step = environment.step(Prediction(query_id=query.id, text=text))
        seen.append((query, step.score))
        query = step.query
    return seen


@EDITIONS
def test_it_keeps_what_every_environment_promises(folder, make):
    check_environment(make)


def test_each_turn_is_asked_on_its_own(folder):
    texts = {query.id: query.text for query, _ in answered(cosql())}
    assert texts["cosql-0-3"] == "And the oldest?"
    assert set(texts) == {"cosql-0-1", "cosql-0-2", "cosql-0-3", "cosql-1-1", "cosql-2-2"}


def test_gold_is_on_one_line_but_for_what_is_quoted(folder):
    environment = cosql()
    golds = {query.id: environment.gold(query) for query, _ in answered(environment)}
    assert golds["cosql-0-1"] == "SELECT name FROM pet"
    assert golds["cosql-2-2"] == "SELECT 'a  b'"


def test_a_turn_whose_gold_does_not_run_is_excluded_by_name(folder):
    assert cosql().edition.excluded == ("cosql-2-1",)
    assert "1 excluded" in cosql().note


def test_it_is_also_found_where_the_row_does_not_say_so(folder):
    write(folder / "stream.jsonl", TURNS)
    assert cosql().edition.excluded == ("cosql-1",)


def test_the_published_edition_keeps_it_as_wrong(folder):
    scores = {q.id: score for q, score in answered(ENVIRONMENTS.create("cosql_published"))}
    assert len(scores) == 6
    assert (scores["cosql-2-1"].value, scores["cosql-2-1"].tags[-1]) == (0.0, BROKEN_GOLD)


def test_a_conversation_shows_the_earlier_questions_and_no_answers(folder):
    environment = cosql(conversation=True)
    texts = {query.id: query.text for query, _ in answered(environment)}
    assert texts["cosql-0-1"] == "Which pets are there?"
    assert texts["cosql-0-3"].splitlines() == [
        "And the oldest?",
        "Asked before in the same conversation, oldest first:",
        "- Which pets are there?",
        "- How old are they?",
    ]
    assert not any("SELECT" in text for text in texts.values())


@pytest.mark.parametrize("order", ["shuffled", "by_db"])
def test_the_turns_of_a_conversation_follow_each_other_in_every_order(folder, order):
    starts = set()
    for seed in range(12):
        stream = answered(cosql(conversation=True, order=order), seed=seed)
        ids = [query.id for query, _ in stream]
        first = ids.index("cosql-0-1")
        assert ids[first : first + 3] == ["cosql-0-1", "cosql-0-2", "cosql-0-3"]
        starts.add(ids[0])
    assert len(starts) == (3 if order == "shuffled" else 2)


def test_the_prompt_of_a_later_turn_looks_as_in_the_snapshot(folder):
    environment = cosql(conversation=True)
    query = next(query for query, _ in answered(environment) if query.id == "cosql-0-3")
    messages = Composer().compose(environment.task, query).messages
    shown = "\n\n".join(f"=== {one.role} ===\n{one.content}" for one in messages)
    assert shown + "\n" == (SNAPSHOTS / "cosql_conversation.txt").read_text(encoding="utf-8")


def test_a_conversation_is_another_task_and_says_so(folder):
    environment = cosql(conversation=True)
    assert environment.id == "cosql_conversation-v1"
    assert "earlier questions of the conversation are shown" in environment.note


def test_conversations_need_the_dialogues_and_turns_alone_do_not(folder):
    write(folder / "stream.jsonl", TURNS)
    assert len(cosql()) == 2
    assert len(cosql(conversation=True)) == 5
    (folder / "dev.jsonl").unlink()
    with pytest.raises(DataError, match=r"no 'dev\.jsonl'"):
        cosql(conversation=True)


def test_turns_are_tagged_as_first_or_later(folder):
    tags = {query.id: score.tags for query, score in answered(cosql())}
    assert tags["cosql-0-1"] == ("first turn",)
    assert tags["cosql-0-2"] == ("later turn",)


def test_databases_select_the_turns(folder):
    assert {query.group for query, _ in answered(cosql(databases="shop"))} == {"shop"}


def test_databases_of_its_own_come_before_those_of_spider(folder):
    (folder / "database").mkdir()
    with pytest.raises(DataError, match=r"no database 'pets'.*cosql"):
        cosql(databases="pets")


def test_demonstrations_come_from_the_training_rows(folder):
    write(folder / "train.jsonl", TURNS[:1])
    assert [episode.answer for episode in cosql().demonstrations(k=1)] == ["SELECT name FROM pet"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"turns": DIALOGUES[0]["turns"]}, r"cosql/dev\.jsonl, row 4: db_id must be text"),
        ({"db_id": "pets", "turns": []}, r"row 4: turns must be a list of objects, .* got \[\]"),
        ({"db_id": "pets", "turns": "none"}, "row 4: turns must be a list of objects"),
        ({"db_id": "pets", "turns": [7]}, "row 4: turns must be a list of objects"),
        (
            {"db_id": "pets", "turns": [{"query": "SELECT 1"}]},
            "row 4, turns, row 1: utterance must be text, got None",
        ),
        ({"db_id": "pets", "question": "?", "query": 7}, "row 4: query must be text, got 7"),
    ],
)
def test_a_malformed_row_is_named(folder, row, message):
    write(folder / "dev.jsonl", [*DIALOGUES, row])
    with pytest.raises(DataError, match=message):
        cosql()


@pytest.mark.usefixtures("benchmark_data")
@pytest.mark.parametrize("conversation", [False, True])
def test_every_real_gold_query_that_runs_is_right(conversation):
    environment = cosql(conversation=conversation)
    scores = [score for _, score in answered(environment)]
    assert len(scores) == 947
    assert {score.value for score in scores} == {1.0}
    assert sum("empty gold" in score.tags for score in scores) == 18
    assert environment.edition.excluded == ("cosql-100-2",)
