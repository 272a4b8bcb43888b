import re
import sqlite3
from collections import Counter
from contextlib import closing
from difflib import SequenceMatcher

import pytest

from learnloop.environments.graders.sql import SQLGrader
from learnloop.environments.house_rules.data import Database, database_names, load_database
from learnloop.errors import ParameterError

NAMES = database_names()
DATABASES = {name: load_database(name) for name in NAMES}

# What is left of a gold query when one convention of the shop is not known.
WITHOUT = {
    "live": (r"(\w+\.)?status NOT IN \('cancelled', 'refunded'\)", "1"),
    "euros": (r" / 100\.0", ""),
    "tests": (r"(\w+\.)?kind <> 'T'", "1"),
    "range": (r"(\w+\.)?stock >= 0", "1"),
    "names": (r"last_name \|\| ', ' \|\| ((?:\w+\.)?first_name)", r"last_name, \1"),
    "dates": (r"strftime\('%d/%m/%Y', (MAX\(\w+\)|\w+)\)", r"\1"),
    "fiscal": (r"-04-01", "-01-01"),
    "active": (r"2025-04-01", "2025-05-31"),
    "rating": (r" / 2\.0", ""),
    "online": (r"'web', 'app'", "'web'"),
}


@pytest.fixture(scope="module", params=NAMES)
def database(request):
    return DATABASES[request.param]


@pytest.fixture(scope="module")
def graders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("databases")
    made = {}
    for name, database in DATABASES.items():
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.executescript(database.script)
        made[name] = SQLGrader(folder / name)
    return made


def rules(database, *, drifted):
    return {entry.id: entry.in_force(drifted=drifted) for entry in database.conventions}


def test_there_are_180_questions_and_15_conventions():
    assert sum(len(database.questions) for database in DATABASES.values()) >= 180
    assert sum(len(database.conventions) for database in DATABASES.values()) >= 15
    assert len(DATABASES["shop"].questions) >= 70
    assert len(DATABASES["shop"].conventions) >= 8


def test_no_two_questions_have_one_id_or_one_wording():
    questions = [each for database in DATABASES.values() for each in database.questions]
    assert len({each.id for each in questions}) == len(questions)
    assert len({each.text for each in questions}) == len(questions)


def test_every_convention_recurs(database):
    counts = Counter(name for each in database.questions for name in each.conventions)
    few = {entry.id: counts[entry.id] for entry in database.conventions if counts[entry.id] < 5}
    assert not few
    if database.name == "shop":
        assert min(counts.values()) >= 8
        assert max(counts.values()) <= 35


def test_at_most_one_question_in_twenty_needs_no_convention_and_none_more_than_three(database):
    needs = Counter(len(each.conventions) for each in database.questions)
    assert needs[0] <= 0.05 * len(database.questions)
    assert max(needs) <= 3


def test_the_nearest_other_question_is_seldom_nearly_the_same_sentence(database):
    texts = [each.text for each in database.questions]
    near = [
        one
        for one in texts
        if any(one != two and SequenceMatcher(None, one, two).ratio() > 0.85 for two in texts)
    ]
    assert len(near) <= 0.1 * len(texts)


def test_the_schema_is_small_and_says_nothing_but_names(database):
    columns = re.findall(r"\b\w+ (?:INTEGER|TEXT|REAL)\b", database.schema_text)
    assert database.schema_text.count("CREATE TABLE") <= 6
    assert len(columns) <= 30
    assert "--" not in database.schema_text
    assert "INSERT" not in database.context
    assert database.context.endswith(f"Today is {database.as_of}.")


def test_gold_runs_and_is_never_empty(database, graders):
    grader = graders[database.name]
    for question in database.questions:
        for drifted in (False, True):
            rows = grader.rows(question.gold(drifted=drifted))
            assert rows, question.id
            assert any(cell is not None for row in rows for cell in row), question.id


def test_who_knows_no_convention_is_wrong_wherever_one_is_needed(database, graders):
    grader = graders[database.name]
    for question in database.questions:
        found = grader.grade(question.naive, gold=question.sql, ordered=question.ordered)
        assert found.correct == (not question.conventions), (question.id, found)


def test_each_needed_convention_matters_by_itself(graders):
    database, grader = DATABASES["shop"], graders["shop"]
    for question in database.questions:
        for name in question.conventions:
            sql = re.sub(*WITHOUT[name], question.sql)
            assert sql != question.sql, (question.id, name)
            found = grader.grade(sql, gold=question.sql, ordered=question.ordered)
            assert found.why in {"other rows", "other columns", "other order"}, (question.id, name)
            assert not rules(database, drifted=False)[name].is_followed_by(sql)


def test_gold_follows_every_needed_convention_and_the_naive_answer_breaks_one(database):
    for question in database.questions:
        for drifted in (False, True):
            known = rules(database, drifted=drifted)
            gold = question.gold(drifted=drifted)
            broken = [n for n in question.conventions if not known[n].is_followed_by(gold)]
            assert not broken, (question.id, drifted, broken)
        known = rules(database, drifted=False)
        broken = [n for n in question.conventions if not known[n].is_followed_by(question.naive)]
        assert broken or not question.conventions, question.id


def test_conventions_are_recognised_whatever_the_white_space_and_case(database):
    known = rules(database, drifted=False)
    for question in database.questions:
        for name in question.conventions:
            spread = question.sql.replace(" AND ", "\n  and ").replace("SELECT ", "select\t")
            assert known[name].is_followed_by(spread), (question.id, name)


def test_drift_changes_what_is_right(database, graders):
    drifting = {entry.id for entry in database.conventions if entry.drift is not None}
    if not drifting:
        pytest.skip(f"no convention of {database.name} drifts")
    for question in database.questions:
        touched = bool(drifting & set(question.conventions))
        assert (question.after is not None) == touched, question.id
        if question.after is not None:
            found = graders[database.name].grade(question.sql, gold=question.after)
            assert not found.correct, question.id


@pytest.mark.parametrize("drifted", [False, True])
def test_every_comment_and_statement_states_its_own_convention_and_no_other(database, drifted):
    known = rules(database, drifted=drifted)
    for name, rule in known.items():
        for text in (rule.statement, *rule.comments):
            stated = [other for other, each in known.items() if each.is_stated_in(text)]
            assert stated == [name], text


def test_an_old_comment_does_not_state_the_rule_that_came_after_nor_the_other_way_round(database):
    for entry in database.conventions:
        if entry.drift is None:
            continue
        assert not any(entry.drift.is_stated_in(text) for text in entry.comments), entry.id
        assert not any(entry.is_stated_in(text) for text in entry.drift.comments), entry.id


@pytest.mark.parametrize(
    "text",
    [
        "Follow the conventions of the company.",
        "Use the right columns and format dates properly.",
        "Exclude irrelevant orders.",
        "Convert the currency.",
        "Only count online orders.",
        "Write valid SQLite and check the status of orders.",
        "Use COUNT(*) to count customers and products.",
    ],
)
def test_general_advice_states_nothing(text):
    known = rules(DATABASES["shop"], drifted=False)
    assert [name for name, rule in known.items() if rule.is_stated_in(text)] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Exclude orders with status 'cancelled' or 'refunded'.", "live"),
        ("Filter status NOT IN ('cancelled','refunded')", "live"),
        ("Divide price, total and shipping by 100 to convert cents to euros.", "euros"),
        ("Exclude customers where kind = 'T'.", "tests"),
        ("Always add `kind <> 'T'` when counting customers.", "tests"),
        ("Only include products with stock >= 0.", "range"),
        ("Format names as last_name || ', ' || first_name.", "names"),
        ("Format dates with strftime('%d/%m/%Y', date).", "dates"),
        ("The fiscal year starts on 1 April.", "fiscal"),
        ("Active customers have last_order >= '2025-04-01'.", "active"),
        ("Ratings are stars / 2.0.", "rating"),
        ("Online orders: channel IN ('web', 'app').", "online"),
    ],
)
def test_a_rule_in_other_words_states_its_convention(text, name):
    known = rules(DATABASES["shop"], drifted=False)
    assert [other for other, rule in known.items() if rule.is_stated_in(text)] == [name]


def test_an_unknown_database_gets_a_suggestion():
    with pytest.raises(ParameterError, match="did you mean 'shop'"):
        load_database("shpo")


def content(**changes):
    rule = {
        "id": "a",
        "statement": "s",
        "comments": ["1", "2", "3"],
        "follows": "x",
        "stated": ["y"],
    }
    question = {
        "id": "q",
        "text": "?",
        "sql": "SELECT 1",
        "naive": "SELECT 2",
        "conventions": ["a"],
    }
    whole = {
        "name": "n",
        "as_of": "2025-06-30",
        "description": "d",
        "script": "",
        "convention": [rule],
        "question": [question],
    }
    return whole | changes | {"question": [question | changes.get("question", {})]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": {"conventions": ["b"]}}, "needs unknown"),
        ({"question": {"golden": "x"}}, "Extra inputs"),
        ({"convention": []}, "needs unknown"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_files_that_do_not_agree_are_refused(changes, message):
    assert Database.model_validate(content()).name == "n"
    with pytest.raises(ValueError, match=message):
        Database.model_validate(content(**changes))
