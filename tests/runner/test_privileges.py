from dataclasses import replace

import pytest

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.checks.listening_model import ListeningModel
from learnloop.environments.dataset import Dataset, Edition, Graded
from learnloop.environments.dataset import Item as Row
from learnloop.errors import ParameterError
from learnloop.llm.scripted import Scripted
from learnloop.methods import METHODS
from learnloop.methods.oracle import Oracle
from learnloop.methods.zero_shot import ZeroShot
from learnloop.records.reader import read_run
from learnloop.runner.building import check_spec, run_info
from learnloop.runner.privileges import answer_key, check_privileges, demonstrations
from learnloop.runner.spec import make_spec
from learnloop.types import Query, Task

QUERY = Query(id="q", text="2 + 2?")
WORLD = ListEnvironment([Item(query=QUERY, gold="4")], demonstrations=[Item(query=QUERY, gold="4")])


class Closed:
    """An environment that tells nothing beside its queries."""


def test_only_a_method_that_declares_it_gets_the_answers():
    assert answer_key(Oracle, WORLD)(QUERY) == "4"
    assert answer_key(ZeroShot, WORLD) is None
    assert answer_key(Oracle, Closed()) is None


@pytest.mark.parametrize("name", [name for name in METHODS if name != "oracle"])
def test_no_other_registered_method_gets_them(name):
    assert answer_key(METHODS.load(name), WORLD) is None


def test_demonstrations_come_from_the_environment_where_it_has_some():
    assert [episode.answer for episode in demonstrations(WORLD)(1)] == ["4"]
    assert demonstrations(Closed()) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"method": "oracle"}, "'oracle' needs the right answers, and environment 'parity'"),
        ({"method": "few_shot"}, "'few_shot' needs demonstrations, and environment 'parity'"),
        ({"method": "drpg", "agents": ["b"]}, "takes no agents, got"),
        ({"method": "mam_stream_icl", "agents": ["b", "b"]}, "must all be different"),
        ({"method": "mam_stream_icl", "agents": ["a"]}, "must all be different"),
    ],
)
def test_what_does_not_go_together_is_refused_before_a_model_is_opened(fields, message):
    with pytest.raises(ParameterError, match=message):
        check_spec(make_spec(environment="parity", model="a", **fields))


def test_what_goes_together_passes():
    check_privileges(make_spec(environment="list", method="oracle"), WORLD)
    check_privileges(make_spec(environment="list", method="few_shot"), WORLD)
    check_privileges(make_spec(environment="list", method="mam_stream_icl", agents=["b"]), WORLD)


def test_the_oracle_is_right_on_a_whole_run_without_a_call(bench, tmp_path):
    model = ListeningModel(lambda heard: "")
    records = bench.run(tmp_path, method="oracle", model=model, feedback="correct=0")
    assert [record.score for record in records] == [1.0] * 6
    assert model.heard == []
    assert read_run(tmp_path).info.note == "the method is told the right answers"


@pytest.mark.parametrize("method", ["grow_prompt", "mem_prompt"])
def test_a_run_of_a_method_that_shows_wrong_answers_says_so(bench, tmp_path, method):
    bench.run(tmp_path, method=method)
    assert read_run(tmp_path).info.note == "the answering model is shown wrong answers"


@pytest.mark.parametrize(
    ("feedback", "note"),
    [
        ("binary", "the method writes policies from comments, and none arrive"),
        ("correction", "the method writes policies from comments, and none arrive"),
        ("comment=0.1", ""),
    ],
)
def test_a_method_that_waits_for_comments_says_so_where_none_arrive(
    bench, tmp_path, feedback, note
):
    bench.run(tmp_path, method="drpg", feedback=feedback)
    assert read_run(tmp_path).info.note == note


def test_a_policy_written_from_right_and_wrong_needs_no_comments(bench, tmp_path):
    params = {"writer": "contrastive"}
    bench.run(tmp_path, method="drpg", method_params=params, feedback="binary")
    assert read_run(tmp_path).info.note == ""


def test_the_note_of_the_rows_stands_before_that_of_the_method(bench, tmp_path):
    item = Row(query=QUERY, gold="4")
    task = Task(name="t", role="", instructions="", answer_format="", metric="accuracy")

    def grade(row, answer):
        return Graded(value=float(answer == row.gold), correct=answer == row.gold)

    prepared = bench.prepare(method="oracle")
    rows = Dataset(edition=Edition(id="t-v1", length=9), task=task, items=[item], grade=grade)
    note = run_info(replace(prepared, environment=rows)).note
    assert note == "a subset: 1 of the 9 published queries; the method is told the right answers"


def test_several_agents_answer_over_one_memory_and_each_call_is_in_the_ledger(bench, tmp_path):
    def named(name):
        return Scripted(bench.script, name=name)

    records = bench.run(
        tmp_path,
        method="mam_stream_icl",
        model=named("a"),
        agents=["b", "c"],
        agent_models=[named("b"), named("c")],
        feedback="binary",
    )
    assert [record.calls[0].model for record in records] == ["a", "b", "c", "a", "b", "c"]
    assert read_run(tmp_path).info.spec["agents"] == ["b", "c"]
    by_agent = {record.query_id: record.calls[0].model for record in records}
    shown = {
        (by_agent[one], record.calls[0].model) for record in records for one in record.examples
    }
    assert any(answered != shown_to for answered, shown_to in shown)
