"""The Spider stream: rows, order, the development split as a subset, and the real rows."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.spider import spider
from learnloop.errors import DataError
from learnloop.types import Prediction

QUESTIONS = {
    "pets": [("How many pets are there?", "SELECT count(*) FROM pet"), ("Which?", "SELECT 1")],
    "shop": [("What is sold?", "SELECT  name\nFROM pet")],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    root = tmp_path / "spider"
    for name in QUESTIONS:
        (root / "database" / name).mkdir(parents=True)
        with closing(sqlite3.connect(root / "database" / name / f"{name}.sqlite")) as connection:
            connection.executescript("CREATE TABLE pet (name TEXT); INSERT INTO pet VALUES ('Rex')")
    rows = [
        {"db_id": name, "question": question, "query": sql}
        for name, pairs in QUESTIONS.items()
        for question, sql in pairs
    ]
    write(root / "dev.jsonl", rows)
    write(root / "train.jsonl", rows[:2])
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    return root


def write(path, rows):
    path.write_text("".join(json.dumps({"id": n, **row}) + "\n" for n, row in enumerate(rows)))


def stream(environment, seed=42):
    query, seen = environment.reset(seed=seed), []
    while query is not None:
        seen.append(query)
        step = environment.step(Prediction(query_id=query.id, text=environment.gold(query)))
        assert step.score.value == 1.0
        query = step.query
    return seen


def test_it_keeps_what_every_environment_promises(folder):
    check_environment(lambda: spider())


def test_the_order_is_the_permutation_that_the_published_streams_are_shuffled_with(folder):
    order = [int(place) for place in np.random.default_rng(42).permutation(3)]
    assert [query.id for query in stream(spider())] == [f"spider-{place}" for place in order]


def test_by_db_asks_one_database_after_the_other(folder):
    groups = [query.group for query in stream(spider(order="by_db"))]
    assert groups == ["pets", "pets", "shop"]


def test_databases_select_the_rows(folder):
    assert {query.group for query in stream(spider(databases="shop"))} == {"shop"}


def test_gold_is_on_one_line_and_the_schema_is_the_context(folder):
    environment = spider(databases="shop")
    query = environment.reset(seed=0)
    assert environment.gold(query) == "SELECT name FROM pet"
    assert query.context == "CREATE TABLE pet (name text);"


def test_the_development_split_says_that_it_is_a_subset(folder):
    assert spider().note == "a subset: 3 of the 2,147 published queries"


def test_the_test_split_comes_first_where_it_is_there(folder):
    write(folder / "test.jsonl", [{"db_id": "pets", "question": "?", "query": "SELECT 1"}])
    assert len(spider()) == 1


def test_demonstrations_come_from_the_training_split(folder):
    shown = spider().demonstrations(k=2)
    assert [episode.id for episode in shown] == ["spider-train-0", "spider-train-1"]
    assert all(episode.correct for episode in shown)


def test_a_row_without_a_field_is_named(folder):
    write(folder / "dev.jsonl", [{"db_id": "pets", "question": "?"}])
    with pytest.raises(DataError, match=r"spider/dev\.jsonl, row 1: query must be text, got None"):
        spider()


def test_without_data_it_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="learnloop data get spider"):
        ENVIRONMENTS.create("spider")


def test_every_real_gold_query_is_right_and_49_find_nothing(benchmark_data):
    environment = spider()
    query, empty, right = environment.reset(seed=42), 0, 0
    while query is not None:
        step = environment.step(Prediction(query_id=query.id, text=environment.gold(query)))
        right += step.feedback.correct is True
        empty += "empty gold" in step.score.tags
        query = step.query
    assert (right, empty) == (len(environment), 49)
