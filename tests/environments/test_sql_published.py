"""Published grading against ours on the same cases: each quirk, and what is right there."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments import ENVIRONMENTS
from learnloop.environments.sql_published import BROKEN_GOLD, ddl_text
from learnloop.environments.sql_stream import EMPTY_GOLD
from learnloop.errors import DataError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"
SCRIPT = """
CREATE TABLE singer (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT DEFAULT 'unknown',
    score REAL
);
CREATE TABLE "song title" (text TEXT);
INSERT INTO singer (name, score) VALUES ('Ana', 10), ('Ben', 20), ('Ana', 30);
INSERT INTO "song title" VALUES (CAST(x'fffe' AS TEXT));
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("show", "band"):
        (tmp_path / "spider" / "database" / name).mkdir(parents=True)
        path = tmp_path / "spider" / "database" / name / f"{name}.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SCRIPT)
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    return tmp_path / "spider"


@pytest.fixture
def grade(folder):
    """Grades a reply as the one answer of a stream whose gold SQL is given."""

    def graded(edition, gold, reply, **params):
        write(folder / "dev.jsonl", [{"db_id": "show", "question": "Which?", "query": gold}])
        environment = ENVIRONMENTS.create(edition, **params)
        query = environment.reset(seed=42)
        text = environment.task.parse(reply)
        return environment.step(Prediction(query_id=query.id, text=text)).score

    return graded


def write(path, rows):
    path.write_text("".join(json.dumps({"id": n, **row}) + "\n" for n, row in enumerate(rows)))


NAMES = "SELECT name FROM singer"
NOBODY = "SELECT name FROM singer WHERE score > 99"
QUIRKS = {
    # name: (gold, reply, published verdict, ours)
    "empty, and so is gold": (NOBODY, "SELECT name FROM singer WHERE score > 50", 0, 1),
    "empty gold as the reply": (NOBODY, NOBODY, 0, 1),
    "lower-case select": (NAMES, "select name from singer", 0, 1),
    "lower-case gold as the reply": ("select name from singer", "select name from singer", 0, 1),
    "with": (NAMES, "WITH s AS (SELECT * FROM singer) SELECT name FROM s", 0, 1),
    "order": ("SELECT id FROM singer ORDER BY id", "SELECT id FROM singer ORDER BY id DESC", 1, 0),
    "multiplicity": (NAMES, "SELECT DISTINCT name FROM singer", 1, 0),
    "too many": ("SELECT DISTINCT name FROM singer", NAMES, 1, 0),
    "rounding": ("SELECT avg(score) / 3 FROM singer", "SELECT 6.67", 0, 1),
    "plain fence with prose": (NAMES, f"```\n{NAMES}\n```\nThese are their names.", 0, 1),
    "prose before": (NAMES, f"Here it is:\n{NAMES}", 0, 1),
    "text that is no UTF-8": (
        'SELECT text FROM "song title"',
        'SELECT text FROM "song title"',
        0,
        1,
    ),
}


@pytest.mark.parametrize(("gold", "reply", "published", "ours"), QUIRKS.values(), ids=QUIRKS)
def test_published_grading_has_the_quirk_and_ours_is_right(grade, gold, reply, published, ours):
    assert grade("spider_published", gold, reply).value == published
    assert grade("spider", gold, reply).value == ours


SAME = {
    "fenced": (NAMES, f"```sql\n{NAMES}\n```", 1),
    "wrong rows": (NAMES, "SELECT name FROM singer WHERE id = 1", 0),
    "no such column": (NAMES, "SELECT nam FROM singer", 0),
    "empty where gold is not": (NAMES, NOBODY, 0),
    "writing": (NAMES, "DROP TABLE singer", 0),
}


@pytest.mark.parametrize(("gold", "reply", "value"), SAME.values(), ids=SAME)
def test_elsewhere_both_say_the_same(grade, gold, reply, value):
    assert grade("spider_published", gold, reply).value == value
    assert grade("spider", gold, reply).value == value


def test_an_empty_result_can_be_right_as_in_the_code_of_drpg(grade):
    score = grade("spider_published", NOBODY, "SELECT 1, 2 WHERE 0", empty="right")
    assert (score.value, score.tags) == (1.0, (EMPTY_GOLD,))
    assert grade("spider_published", NOBODY, NAMES, empty="right").value == 0.0


def test_it_says_in_id_and_note_that_empty_results_can_be_right(folder):
    write(folder / "dev.jsonl", [{"db_id": "show", "question": "?", "query": NAMES}])
    published = ENVIRONMENTS.create("spider_published")
    mended = ENVIRONMENTS.create("spider_published", empty="right")
    assert (published.id, mended.id) == ("spider_published-v1", "spider_published_empty_right-v1")
    assert "an empty result is right" in mended.note
    assert "an empty result is right" not in published.note


def test_empty_gold_is_tagged_in_both_editions(grade):
    assert grade("spider_published", NOBODY, "SELECT 1").tags == (EMPTY_GOLD,)
    assert grade("spider", NOBODY, "SELECT 1").tags == (EMPTY_GOLD,)


def test_broken_gold_stays_and_is_always_wrong_in_the_published_edition(grade):
    score = grade("spider_published", "SELECT nam FROM singer", NAMES)
    assert (score.value, score.tags) == (0.0, (BROKEN_GOLD,))
    assert grade("spider_published", "SELECT nam FROM singer", "SELECT nam FROM singer").value == 0


def test_the_schema_is_the_ddl_as_it_was_written_line_by_line(folder):
    assert ddl_text(folder / "database" / "show" / "show.sqlite").split("\n\n") == [
        "CREATE TABLE singer (\nid INTEGER PRIMARY KEY AUTOINCREMENT,\n"
        "name TEXT DEFAULT 'unknown',\nscore REAL\n)",
        "CREATE TABLE sqlite_sequence(name,seq)",
        'CREATE TABLE "song title" (text TEXT)',
    ]


def test_a_file_that_is_no_database_is_named(tmp_path):
    (tmp_path / "text.sqlite").write_text("no database at all " * 100)
    with pytest.raises(DataError, match=r"cannot read the schema of .*text\.sqlite"):
        ddl_text(tmp_path / "text.sqlite")


def three(folder):
    rows = [
        {"db_id": name, "question": f"Who, {name}?", "query": f"SELECT  '{name}', {n}"}
        for n, name in enumerate(["show", "band", "show"])
    ]
    write(folder / "dev.jsonl", rows)
    write(folder / "train.jsonl", rows)


def asked(environment, seed):
    query, ids = environment.reset(seed=seed), []
    while query is not None:
        ids.append(query.id)
        query = environment.step(Prediction(query_id=query.id, text="")).query
    return ids


def test_the_published_order_for_shift_is_that_of_the_source_whatever_the_seed(folder):
    three(folder)
    environment = ENVIRONMENTS.create("spider_published", order="by_db")
    assert asked(environment, 2) == asked(environment, 42) == ["spider-1", "spider-0", "spider-2"]


def test_demonstrations_are_the_training_rows_shuffled_with_the_published_seed(folder):
    three(folder)
    shown = ENVIRONMENTS.create("spider_published").demonstrations(k=3)
    order = np.random.default_rng(42).permutation(3)
    assert [episode.query.id for episode in shown] == [f"spider-train-{place}" for place in order]
    assert shown[0].answer == f"SELECT  '{['show', 'band', 'show'][order[0]]}', {order[0]}"


def test_it_keeps_what_every_environment_promises(folder):
    three(folder)
    check_environment(partial(ENVIRONMENTS.create, "spider_published"))


def test_the_whole_prompt_looks_as_in_the_snapshot(folder):
    three(folder)
    environment = ENVIRONMENTS.create("spider_published")
    messages = Composer(layout="paper").compose(environment.task, environment.reset(seed=42))
    shown = "\n\n".join(f"=== {one.role} ===\n{one.content}" for one in messages.messages)
    assert shown + "\n" == (SNAPSHOTS / "spider_published.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("benchmark_data")
@pytest.mark.parametrize(
    ("name", "empty", "lower", "nothing"),
    [("spider", 49, 44, 4), ("cosql", 18, 69, 0)],
)
def test_on_real_rows_gold_is_wrong_exactly_where_a_quirk_says_so(name, empty, lower, nothing):
    environment = ENVIRONMENTS.create(f"{name}_published")
    query, wrong, tags = environment.reset(seed=42), 0, 0
    while query is not None:
        gold = environment.gold(query)
        text = environment.task.parse(gold)
        step = environment.step(Prediction(query_id=query.id, text=text))
        score = step.score
        odd = not gold.startswith("SELECT") or {EMPTY_GOLD, BROKEN_GOLD} & set(score.tags)
        assert score.value == (0.0 if odd else 1.0), query.id
        wrong += score.value == 0.0
        tags += EMPTY_GOLD in score.tags
        query = step.query
    assert tags == empty
    assert wrong == empty + lower - nothing + (name == "cosql")
