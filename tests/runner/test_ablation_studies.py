"""The ablations in `studies/`: what their arms differ in, and that every parameter exists."""

import json
from pathlib import Path

import pytest

from learnloop.methods import METHODS
from learnloop.params import check_params
from learnloop.runner.study import expand, read_study

STUDIES = Path(__file__).parents[2] / "studies"
BENCHMARKS = {"spider", "cosql", "bird", "ddxplus", "hotpotqa", "ds1000"}
FILES = sorted(path.name for path in STUDIES.glob("ablation_*.toml"))


def specs_of(name):
    return expand(read_study(STUDIES / name))


def arms(name, *, environment="spider"):
    return [spec for spec in specs_of(name) if spec.environment == environment]


def differing(specs):
    """The parameters that are not the same in all of these runs."""
    params = [{"method": spec.method, **spec.method_params} for spec in specs]
    names = {name for one in params for name in one}
    return {name for name in names if len({json.dumps(one.get(name)) for one in params}) > 1}


def test_there_is_a_study_for_each_ablation():
    assert [name.removeprefix("ablation_").removesuffix(".toml") for name in FILES] == [
        "example_format",
        "generators",
        "no_feedback",
        "policy_cases",
        "previous_policy",
    ]


@pytest.mark.parametrize("name", FILES)
def test_every_run_has_parameters_that_exist_and_an_arm_on_every_benchmark(name):
    specs = specs_of(name)
    for spec in specs:
        check_params(spec.method, METHODS.load(spec.method).from_parts, spec.method_params, given=1)
    sizes = {name: len([s for s in specs if s.environment == name]) for name in BENCHMARKS}
    assert {spec.environment for spec in specs} == BENCHMARKS
    assert len(set(sizes.values())) == 1
    assert len({spec.run_id for spec in specs}) == len(specs)


@pytest.mark.parametrize("name", FILES)
def test_long_contexts_have_four_examples_and_the_others_sixteen(name):
    for spec in specs_of(name):
        long = spec.environment in ("hotpotqa", "ds1000")
        assert spec.method_params.get("k", 4 if long else 16) == (4 if long else 16)


def test_the_arms_of_the_cases_differ_in_the_cases_alone():
    found = arms("ablation_policy_cases.toml")
    assert differing(found) == {"policy_cases"}
    assert [spec.method_params["policy_cases"] for spec in found] == [
        "contrastive",
        "correct",
        "wrong",
    ]


def test_the_arms_of_the_previous_policy_differ_in_that_alone():
    drpg = [s for s in arms("ablation_previous_policy.toml") if s.method == "drpg"]
    assert differing(drpg) == {"previous_policy", "policy_scope"}


def test_the_formats_are_those_of_both_methods():
    found = arms("ablation_example_format.toml")
    for method in ("self_stream_icl", "drpg"):
        formats = [s.method_params["example_format"] for s in found if s.method == method]
        assert formats == ["plain", "labelled"]
        assert differing([s for s in found if s.method == method]) == {"example_format"}


def test_the_published_pairs_of_models_are_there_beside_each_alone():
    found = arms("ablation_generators.toml")
    pairs = {(_short(spec.model), _short(spec.policy_model)) for spec in found}
    published = {
        ("llama-4-maverick", "llama-4-scout"),
        ("llama-4-maverick", "mistral-small"),
        ("llama-4-scout", "llama-4-maverick"),
        ("mistral-small", "llama-4-maverick"),
    }
    assert published <= pairs
    assert {(model, None) for model, _ in pairs} <= pairs
    assert differing(found) == set()


def _short(model):
    if model is None:
        return None
    name = model.rpartition("/")[2]
    return "-".join(name.split("-")[:3] if name.startswith("llama-4") else name.split("-")[:2])
