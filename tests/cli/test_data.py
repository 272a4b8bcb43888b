import json
import sqlite3
from contextlib import closing

import pytest

from learnloop.data.catalog import BENCHMARKS

NAMES = ["spider", "cosql", "bird", "hotpotqa", "ddxplus", "ds1000"]
ROWS = {"spider": 972, "cosql": 948, "bird": 129, "hotpotqa": 500, "ddxplus": 588, "ds1000": 1000}
"""Counted with `wc -l`, CoSQL's turns with `jq '.turns | length'`."""


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty folder of data."""
    folder = tmp_path / "data"
    monkeypatch.setenv("LEARNLOOP_DATA", str(folder))
    return folder


@pytest.fixture
def mine(tmp_path):
    """A small Spider of one's own, in our layout."""
    folder = tmp_path / "mine" / "spider"
    (folder / "database" / "pets").mkdir(parents=True)
    with closing(sqlite3.connect(folder / "database" / "pets" / "pets.sqlite")) as connection:
        connection.execute("CREATE TABLE pet (name TEXT)")
        connection.execute("INSERT INTO pet VALUES ('Tom')")
        connection.commit()
    write(folder / "dev.jsonl", ["SELECT count(*) FROM pet", "SELECT name FROM pet WHERE 0"])
    return folder


def write(path, queries, db_id="pets"):
    rows = [
        {"id": number, "db_id": db_id, "question": "Which?", "query": query}
        for number, query in enumerate(queries)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_benchmarks_are_listed_with_what_is_here(learnloop, data, mine):
    learnloop("data", "get", "spider", "--from", mine)
    rows = json.loads(learnloop("data", "list", "--json").stdout)
    assert [row["name"] for row in rows] == NAMES
    assert [row["rows"] for row in rows] == [2, None, None, None, None, None]
    assert [row["length"] for row in rows] == [2147, 1007, 1534, 1500, 1764, 1000]
    assert rows[2]["bytes_known"] == 346_207_293
    assert rows[2]["files_of_unknown_size"] == 2
    assert {row["licence"] for row in rows} == {"CC BY-SA 4.0", "CC BY 4.0"}


def test_a_table_names_every_benchmark(learnloop, data):
    done = learnloop("data", "list")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in NAMES)
    assert str(data) in done.stdout.replace("\n", "")


def test_getting_prints_licence_count_and_what_is_next(learnloop, data, mine):
    done = learnloop("data", "get", "spider", "--from", mine)
    assert done.exit_code == 0
    words = done.stdout
    assert "CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/)" in words
    assert words.index("Licence:") < words.index("2 of 2,147 published queries (a subset)")
    assert "Next: learnloop data check spider" in words


def test_getting_prints_one_json_object_where_asked(learnloop, data, mine):
    done = learnloop("data", "get", "spider", "--from", mine, "--json")
    assert json.loads(done.stdout)["rows"] == 2
    assert "Licence:" in done.stderr


def test_what_is_there_is_left_alone_unless_forced(learnloop, data, mine):
    learnloop("data", "get", "spider", "--from", mine)
    before = (data / "spider" / "manifest.json").stat().st_mtime_ns
    done = learnloop("data", "get", "spider")
    assert done.exit_code == 0
    assert "spider is there: 2 of 2,147 published queries (a subset)" in done.stdout
    assert "Nothing was changed" in done.stdout
    assert (data / "spider" / "manifest.json").stat().st_mtime_ns == before
    assert json.loads(learnloop("data", "get", "spider", "--json").stdout)["got"] is False
    forced = learnloop("data", "get", "spider", "--force", "--from", mine)
    assert f"What was there is now in {data / 'spider.old'}" in forced.stdout


def test_without_a_network_the_files_of_ones_own_are_asked_for(learnloop, data, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    done = learnloop("data", "get", "ds-1000")
    assert done.exit_code == 2
    assert "sha256" not in done.stderr
    assert "`learnloop data get ds1000 --from PATH`, or set LEARNLOOP_DATA" in done.stderr
    assert "no checksum published" in done.stdout


def test_a_sound_benchmark_is_well(learnloop, data, mine):
    learnloop("data", "get", "spider", "--from", mine)
    done = learnloop("data", "check", "spider")
    assert done.exit_code == 0
    assert "spider: gold queries that run: 2 of 2; databases: 1" in done.stdout
    assert "gold queries that find nothing, as any wrong query may: 1" in done.stdout
    assert done.stdout.endswith("spider: all is well\n")


def test_what_is_wrong_is_a_line_each_and_exit_code_1(learnloop, data, mine):
    learnloop("data", "get", "spider", "--from", mine)
    write(data / "spider" / "dev.jsonl", ["SELECT count(*) FROM pet", "SELECT nme FROM pet"])
    done = learnloop("data", "check", "spider", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert not found["ok"]
    changed, fails = found["problems"]
    assert changed.startswith("dev.jsonl has ")
    assert fails.startswith("row 1: gold SQL fails (invalid, no such column: nme)")


@pytest.mark.parametrize("name", ["cats", "../../etc"])
def test_a_row_whose_database_is_missing_is_a_problem(learnloop, data, mine, name):
    learnloop("data", "get", "spider", "--from", mine)
    (data / "spider" / "manifest.json").unlink()
    write(data / "spider" / "dev.jsonl", ["SELECT 1"], db_id=name)
    found = json.loads(learnloop("data", "check", "spider", "--json").stdout)
    assert len(found["problems"]) == 1
    assert repr(name) in found["problems"][0]


def test_checking_what_is_not_there_says_how_to_get_it(learnloop, data):
    done = learnloop("data", "check", "bird")
    assert done.exit_code == 2
    assert "learnloop data get bird" in done.stderr


def test_a_misspelt_benchmark_gets_a_suggestion(learnloop, data):
    done = learnloop("data", "get", "spyder")
    assert done.exit_code == 2
    assert "did you mean 'spider'?" in done.stderr


@pytest.mark.parametrize("command", ["list", "get", "check"])
def test_every_command_has_help_with_an_example(learnloop, command):
    assert f"Example: learnloop data {command}" in learnloop("data", command, "--help").stdout


def test_a_published_checksum_is_one():
    for benchmark in BENCHMARKS:
        for download in benchmark.downloads:
            assert download.url.startswith("https://")
            assert download.sha256 is None or len(bytes.fromhex(download.sha256)) == 32


@pytest.mark.parametrize("name", NAMES)
def test_the_real_rows_are_well(learnloop, benchmark_data, name):
    done = learnloop("data", "check", name, "--json")
    found = json.loads(done.stdout)
    assert (found["problems"], found["rows"], done.exit_code) == ([], ROWS[name], 0)
