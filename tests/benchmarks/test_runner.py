import json
import subprocess
import sys
from pathlib import Path

from runner_stream import open_stream

from runner import as_json, measure

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "runner.py"


def test_a_run_without_spiders_rows_is_graded_and_timed():
    speed = measure(30, ours=True)
    assert speed.whole > 0
    assert speed.end > 0
    assert 0.4 < speed.accuracy < 1.0  # two of three are right, and some others by chance


def test_our_questions_are_all_different_and_their_sql_runs(tmp_path):
    with open_stream(10_080, ours=True, folder=tmp_path) as environment:
        queries = environment.queries
        assert len({query.text for query in queries}) == 10_080
        for query in queries[:50]:
            rows = environment.grade.grader(query.group).rows(environment.gold(query))
            assert rows


def test_a_stream_longer_than_its_questions_repeats_them_under_new_ids(tmp_path):
    with open_stream(10_090, ours=True, folder=tmp_path) as environment:
        queries = environment.queries
    assert len({query.id for query in queries}) == 10_090
    assert [query.text for query in queries[10_080:]] == [query.text for query in queries[:10]]


def test_the_json_has_a_speed_for_each_size():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--own-rows", "--sizes", "20,40", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    content = json.loads(done.stdout)
    assert set(content["steps_per_second"]) == {"20", "40"}
    assert all(speed > 0 for speed in content["steps_per_second"].values())
    assert as_json({})["steps_per_second"] == {}
