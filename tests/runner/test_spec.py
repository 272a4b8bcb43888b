import hashlib
import json
from pathlib import Path

import pytest

from learnloop.errors import ParameterError
from learnloop.records.archive import read_archive
from learnloop.runner.spec import RunSpec, changed_fields, make_spec

SPEC = {"environment": "house_rules", "method": "drpg", "seed": 2, "feedback": "comment"}


def test_equal_specs_have_equal_hashes_whatever_the_order_of_their_parameters():
    one = make_spec(**SPEC, method_params={"a": 1, "b": 2})
    other = make_spec(**SPEC, method_params={"b": 2, "a": 1})
    assert one.hash == other.hash
    assert one.run_id == other.run_id


def test_the_hash_is_the_sha256_of_the_sorted_json():
    text = (
        '{"embedder":"wordllama","environment":"e","environment_params":{},"feedback":"binary",'
        '"label":null,"method":"m","method_params":{},"model":"local","policy_model":null,'
        '"seed":0,"steps":null}'
    )
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert RunSpec(environment="e", method="m").hash == expected


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 3},
        {"steps": 4},
        {"method_params": {"k": 2}},
        {"model": "x"},
        {"feedback": "b"},
        {"agents": ["x"]},
    ],
)
def test_every_field_counts(change):
    assert make_spec(**SPEC).hash != make_spec(**(SPEC | change)).hash


RESULTS = Path(__file__).parents[2] / "results"


def test_runs_that_were_archived_before_there_were_agents_keep_their_hashes():
    archived = [run.info for run in read_archive(RESULTS / "pid").values()]
    kept = json.loads((RESULTS / "house_rules" / "runs.json").read_text())
    known = [(info.spec, info.spec_hash, info.run_id) for info in archived]
    known += [(run["spec"], run["spec_hash"], run["run_id"]) for run in kept]
    assert len(archived) > 100
    assert len(kept) > 5
    for fields, spec_hash, run_id in known:
        spec = make_spec(**fields)
        assert (spec.hash, spec.run_id, spec.model_dump()) == (spec_hash, run_id, fields)


def test_agents_are_part_of_a_spec_where_there_are_some():
    spec = make_spec(**SPEC, agents=["b", "c"])
    assert make_spec(**spec.model_dump()) == spec
    assert spec.hash != make_spec(**SPEC, agents=["c", "b"]).hash
    assert "agents" not in make_spec(**SPEC).model_dump()
    changed = ["agents: was ['b', 'c'], now None"]
    assert changed_fields(spec.model_dump(), make_spec(**SPEC)) == changed
    assert changed_fields(make_spec(**SPEC).model_dump(), spec) == [
        "agents: was None, now ['b', 'c']"
    ]


def test_a_run_is_named_after_what_matters():
    spec = make_spec(**(SPEC | {"feedback": "comment,correction=0.5"}))
    assert spec.run_id == f"house_rules-drpg-comment+correction=0.5-seed2-{spec.hash[:8]}"
    named = make_spec(**SPEC, label="with (rules)")
    assert named.run_id.startswith("house_rules-with+rules-comment-seed2")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": 0}, "steps: input should be greater than or equal to 1, got 0"),
        ({"steps": -3}, "steps: .* got -3"),
        ({"seed": -1}, "seed: .* got -1"),
        ({"sedd": 1}, "sedd: extra inputs are not permitted"),
        ({"seed": "one"}, "seed: .* got 'one'"),
    ],
)
def test_a_field_out_of_range_is_named(fields, message):
    with pytest.raises(ParameterError, match=message):
        make_spec(**(SPEC | fields))


def test_changed_fields_are_named_with_both_values():
    old = make_spec(**SPEC).model_dump()
    new = make_spec(**(SPEC | {"seed": 5, "method_params": {"k": 4}}))
    assert changed_fields(old, new) == ["method_params: was {}, now {'k': 4}", "seed: was 2, now 5"]
    assert changed_fields(new.model_dump(), new) == []
