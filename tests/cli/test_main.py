import json

import pytest
from typer.testing import CliRunner

import learnloop as package
from learnloop.cli.main import Commands, app
from learnloop.control import GATES
from learnloop.environments import ENVIRONMENTS
from learnloop.memory import EMBEDDERS
from learnloop.methods import METHODS

BENCHMARKS = {"spider", "cosql", "bird", "hotpotqa", "ddxplus", "ds1000"}
SHOWING = ("grow_prompt", "mem_prompt", "drpg_no_feedback")


def test_the_version_is_that_of_the_package(learnloop):
    assert learnloop("--version").stdout == f"learnloop {package.__version__}\n"


def test_without_a_command_the_help_is_shown(learnloop):
    assert "Commands:" in learnloop().output


def test_an_unknown_command_is_an_error(learnloop):
    assert learnloop("rnu").exit_code == 2


@pytest.mark.parametrize(("kind", "names"), [("methods", METHODS), ("environments", ENVIRONMENTS)])
def test_names_are_listed_as_json(learnloop, kind, names):
    done = learnloop("list", kind, "--json")
    assert json.loads(done.stdout) == list(names)


@pytest.mark.parametrize("kind", ["models", "gates", "editors", "embedders"])
def test_every_kind_can_be_listed(learnloop, kind):
    done = learnloop("list", kind, "--json")
    assert done.exit_code == 0
    assert isinstance(json.loads(done.stdout), list)


@pytest.mark.parametrize(("kind", "names"), [("gates", GATES), ("embedders", EMBEDDERS)])
def test_names_are_listed_one_a_line(learnloop, kind, names):
    assert learnloop("list", kind).stdout.splitlines() == list(names)


def test_environments_are_listed_with_edition_seed_and_parameters(learnloop):
    lines = learnloop("list", "environments").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(ENVIRONMENTS)
    said = {line.split()[0]: line for line in lines}
    assert said["spider"].endswith("answered with SQL. Seed 42. [databases, order, seconds]")
    assert "49 diagnoses" in said["ddxplus_published"]
    for name, line in said.items():
        assert ("as published, known defects included" in line) == name.endswith("_published")
        assert ("Seed 42." in line) == (name.removesuffix("_published") in BENCHMARKS)


def test_the_parameters_of_a_method_are_listed(learnloop):
    lines = learnloop("list", "methods").stdout.splitlines()
    said = {line.split()[0]: line for line in lines}
    assert said["grow_prompt"].endswith("[k, layout, max_tokens, examples_budget]")
    assert "[gate, editor, " in said["gated_prompt"]
    assert "[" not in said["oracle"]


def test_methods_are_listed_with_a_line_on_each(learnloop):
    lines = learnloop("list", "methods").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(METHODS)
    assert all(len(line.split()) > 4 for line in lines)
    said = {line.split()[0]: line for line in lines}
    assert "floor of each comparison" in said["zero_shot"]
    for name in METHODS:
        told = "is told the right answers" in said[name]
        shown = "is shown wrong answers" in said[name]
        assert (told, shown) == (name == "oracle", name in SHOWING)


def test_without_a_kind_the_kinds_are_told(learnloop):
    done = learnloop("list")
    assert done.exit_code == 2
    assert done.stderr.startswith("learnloop: say what to list: methods, environments, models")


def test_an_unknown_kind_is_an_error(learnloop):
    done = learnloop("list", "methds")
    assert done.exit_code == 2
    assert "known: methods" in done.stderr


def test_stopping_a_command_prints_a_sentence(learnloop):
    def interrupted():
        raise KeyboardInterrupt

    other = type(app)(cls=Commands)
    other.callback()(lambda: None)
    other.command("wait")(interrupted)
    done = CliRunner().invoke(other, ["wait"])
    assert done.exit_code == 130
    assert done.stderr == "learnloop: stopped; what was finished is kept.\n"
