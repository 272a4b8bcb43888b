import json

import pytest

from learnloop.data.catalog import find
from learnloop.data.checking import check, gold_queries
from learnloop.data.download import get
from learnloop.errors import DataError

SPIDER = find("spider")
ROW = {"id": 4, "db_id": "pets", "question": "How many?", "query": "SELECT count(*) FROM pet"}


@pytest.fixture
def write(tmp_path):
    """Write rows into a file of a benchmark; rows that are text stay as they are."""

    def call(path, *rows):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        target.write_text("".join(f"{text}\n" for text in texts))
        return target

    return call


def test_nothing_there_is_an_error_that_says_how_to_get_it(tmp_path):
    with pytest.raises(DataError, match=r"no 'test\.jsonl' or 'dev\.jsonl'.*data get spider"):
        check(SPIDER, tmp_path)


def test_a_subset_says_so(tmp_path, write):
    write("spider/dev.jsonl", ROW, ROW)
    found = check(SPIDER, tmp_path)
    assert found.problems == ()
    assert found.notes[0] == "2 of 2,147 published queries (a subset)"


def test_a_row_without_a_field_is_named(tmp_path, write):
    write("spider/dev.jsonl", ROW, ROW | {"question": ""})
    assert check(SPIDER, tmp_path).problems == ("dev.jsonl row 1 lacks question",)


@pytest.mark.parametrize(
    ("line", "why"),
    [("{", "dev.jsonl line 2 is not JSON"), ("[]", "dev.jsonl line 2 is no object")],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, write, line, why):
    write("spider/dev.jsonl", ROW, line)
    (problem,) = check(SPIDER, tmp_path).problems
    assert problem.startswith(why)


def test_an_empty_stream_is_a_problem(tmp_path, write):
    write("spider/dev.jsonl")
    assert check(SPIDER, tmp_path).problems == ("dev.jsonl has no rows",)


def test_other_files_of_rows_are_read_as_well(tmp_path, write):
    write("spider/dev.jsonl", ROW)
    write("spider/train.jsonl", "nonsense")
    write("spider/tables.json", "nonsense")
    problems = check(SPIDER, tmp_path).problems
    assert [problem.split()[0] for problem in problems] == ["tables.json", "train.jsonl"]


def test_a_changed_and_a_missing_file_are_told_from_the_manifest(tmp_path, hub, benchmark_of):
    folder = get(benchmark_of("spider"), root=tmp_path, transport=hub.transport).folder
    stream = folder / "test.jsonl"
    stream.write_text(stream.read_text().replace("How many pets?", "How many cats?"))
    (folder / "database" / "ships" / "ships.sqlite").unlink()
    problems = check(SPIDER, tmp_path).problems
    assert problems[0] == "database/ships/ships.sqlite is missing"
    assert problems[1].startswith("test.jsonl has the sha256 ")


def test_a_manifest_that_cannot_be_read_is_a_problem(tmp_path, write):
    write("spider/dev.jsonl", ROW)
    write("spider/manifest.json", "{}")
    assert check(SPIDER, tmp_path).problems[0].startswith("cannot read")


def test_conversations_count_a_query_a_turn(tmp_path, write):
    turns = [
        {"utterance": "Which?", "query": "SELECT 1"},
        {"utterance": "And now?", "query": "SELECT )", "error": "syntax error"},
    ]
    write("cosql/dev.jsonl", {"id": 9, "db_id": "pets", "turns": turns})
    cosql = find("cosql")
    assert check(cosql, tmp_path).rows == 2
    queries = list(gold_queries(cosql, tmp_path))
    assert [(query.row, query.sql, query.fails) for query in queries] == [
        ("9 turn 1", "SELECT 1", False),
        ("9 turn 2", "SELECT )", True),
    ]


def test_programs_are_not_run_but_known_passes_are_counted(tmp_path, write):
    row = {"prompt": "p", "reference_code": "r", "code_context": "c", "metadata": {"library": "x"}}
    write("ds1000/ds1000.jsonl", row, row)
    ds1000 = find("ds1000")
    assert "no code was run" in check(ds1000, tmp_path).notes[-1]
    write("ds1000/gold_pass_new.json", {"env": "numpy 9", "problem_ids": [0]})
    assert check(ds1000, tmp_path).notes[-1] == "1 of 2 references are known to pass with numpy 9"
