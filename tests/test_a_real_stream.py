"""A short stream with the local model, from spec to records: nothing here is scripted."""

import itertools

import pytest

from learnloop.llm.catalog import find
from learnloop.llm.download import get
from learnloop.records.reader import read_run
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import prepare
from learnloop.runner.conduct import conduct
from learnloop.runner.resources import Resources
from learnloop.runner.spec import RunSpec
from learnloop.settings import read_settings

STEPS = 4


@pytest.fixture(scope="module")
def resources():
    settings = read_settings()
    entry = find("local")
    if not (settings.models / entry.file).is_file():
        if not settings.ci:
            pytest.skip("the local model is not here; get it with `learnloop models get local`")
        get(entry, folder=settings.models)
    return Resources(settings=settings)


@pytest.fixture(scope="module")
def run(resources, tmp_path_factory):
    directory = tmp_path_factory.mktemp("real")
    spec = RunSpec(
        environment="house_rules",
        environment_params={"database": "shop"},
        method="drpg",
        steps=STEPS,
        seed=1,
        feedback="comment,correction=0.5",
    )
    ticks = itertools.count()
    spending = Spending(Budget(), clock=lambda: float(next(ticks)))
    list(conduct(prepare(spec, resources), directory=directory, spending=spending))
    return read_run(directory)


def test_the_whole_stream_is_on_record_and_no_call_failed(run):
    assert len(run.steps) == STEPS
    assert run.info.complete
    assert not [record.failed for record in run.steps if record.failed]


def test_a_rule_is_written_from_a_comment_and_shown(run):
    assert any(event.kind == "rule_added" for record in run.steps for event in record.events)
    assert any(record.policy for record in run.steps)


def test_every_answer_is_sql_that_the_database_could_read(run):
    reasons = {record.why.partition(":")[0] for record in run.steps}
    assert not reasons & {"no statement", "refused"}


def test_the_ledger_has_an_answering_call_a_step_and_the_rules_besides(run):
    roles = [call.role for record in run.steps for call in record.calls]
    assert roles.count("answer") == STEPS
    assert roles.count("policy") >= 1
    assert all(call.tokens_in > 0 for record in run.steps for call in record.calls)
