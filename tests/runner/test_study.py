import pytest

from learnloop.errors import ConfigError
from learnloop.runner.study import expand, expand_summaries, read_study

GRIDS = """
name = "two grids"
model = "scripted/static"
steps = 60
environments = [{ name = "house_rules", params = { database = "shop" } }]
methods = [
    "zero_shot",
    { name = "drpg", label = "DRPG", params = { k = [2, 4], writer = "rules" } },
]

[limits]
max_calls = 1000

[[grid]]
feedback = "comment,correction=0.5"
seeds = [1, 2, 3]

[[grid]]
feedback = ["binary", "comment"]
seeds = [1]
"""


def study(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_study(path)


def test_a_study_is_the_product_of_its_axes(tmp_path):
    specs = expand(study(tmp_path, GRIDS))
    # Three methods (zero-shot, and DRPG with two k); 3 seeds, and two more feedback modes.
    assert len(specs) == 3 * 3 + 3 * 2
    assert len({spec.run_id for spec in specs}) == len(specs)
    assert {spec.steps for spec in specs} == {60}
    assert {spec.model for spec in specs} == {"scripted/static"}
    assert {spec.label for spec in specs} == {None, "DRPG k=2", "DRPG k=4"}
    assert specs[0].environment_params == {"database": "shop"}


def test_all_runs_of_a_seed_come_before_the_next_seed(tmp_path):
    seeds = [spec.seed for spec in expand(study(tmp_path, GRIDS))]
    assert set(seeds) == {1, 2, 3}
    assert seeds == sorted(seeds)


def test_a_file_without_grids_is_one(tmp_path):
    text = 'methods = "zero_shot"\nenvironments = "house_rules"\nseeds = [0, 1, 0]\n'
    read = study(tmp_path, text)
    assert read.name == "study"
    assert [spec.seed for spec in expand(read)] == [0, 1]


def test_without_seeds_each_environment_has_its_own_order(tmp_path):
    text = 'methods = "zero_shot"\nenvironments = ["spider", "bird-published", "house_rules"]\n'
    seeds = {spec.environment: spec.seed for spec in expand(study(tmp_path, text))}
    assert seeds == {"spider": 42, "bird-published": 42, "house_rules": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("methods = [", "not valid TOML"),
        ('environments = "e"', "grids.0.methods: field required"),
        ('methods = "m"\nenvironments = "e"\nseed = 1', "grids.0.seed: extra inputs"),
        ('methods = "m"\nenvironments = "e"\nseeds = ["1"]', "grids.0.seeds.0: .*, got '1'"),
        ('methods = "m"\nenvironments = "e"\nsteps = "five"', "grids.0.steps: .*, got 'five'"),
        ('methods = "m"\nenvironments = "e"\n[grid]\nseeds = [1]', r"as a \[\[grid\]\] table"),
        ('methods = "m"\nenvironments = "e"\n[limits]\nmax_call = 1', "limits.max_call: extra"),
    ],
)
def test_a_bad_study_file_is_a_clear_error(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        study(tmp_path, text)


def test_a_study_file_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        read_study(tmp_path / "none.toml")


BARE = 'methods = "zero_shot"\nenvironments = "parity"\nmodel = "none"\n'


@pytest.mark.parametrize(
    ("written", "seeds"),
    [('"1-4"', [1, 2, 3, 4]), ('["1-2", 9, "4-5"]', [1, 2, 9, 4, 5]), ('"7-7"', [7]), ("3", [3])],
)
def test_seeds_may_be_written_as_a_range(tmp_path, written, seeds):
    (grid,) = study(tmp_path, BARE + f"seeds = {written}").grids
    assert grid.seeds == seeds


@pytest.mark.parametrize("written", ['"4-1"', '"1-"', '"a-b"', "[]", '"1-2-3"'])
def test_seeds_that_are_none_are_a_clear_error(tmp_path, written):
    with pytest.raises(ConfigError, match=r"grids\.0\.seeds"):
        study(tmp_path, BARE + f"seeds = {written}")


@pytest.mark.parametrize(("kept", "seeds"), [(0, []), (1, [1]), (2, [1, 2])])
def test_runs_that_leave_summaries_leave_the_steps_of_the_first_seeds(tmp_path, kept, seeds):
    text = BARE + f'seeds = "1-5"\nkeep = "summaries"\nkeep_steps_for = {kept}'
    read = study(tmp_path, text)
    assert [spec.seed for spec in expand_summaries(read)] == [1, 2, 3, 4, 5]
    assert [spec.seed for spec in expand(read)] == seeds


def test_runs_leave_their_steps_unless_told_otherwise(tmp_path):
    read = study(tmp_path, BARE + 'seeds = "1-3"')
    assert len(expand(read)) == 3
    assert expand_summaries(read) == ()


@pytest.mark.parametrize("models", ['model = "local"', 'model = "none"\npolicy_model = "local"'])
def test_summaries_are_for_runs_without_a_model(tmp_path, models):
    text = BARE.replace('model = "none"', models) + 'keep = "summaries"'
    with pytest.raises(ConfigError, match="for runs without a model; set model = 'none'"):
        study(tmp_path, text)


PAIRS = """
methods = "drpg"
environments = "house_rules"
models = ["a", "b"]
"""


def pairs(read):
    return [(spec.model, spec.policy_model) for spec in expand(read)]


def test_every_model_has_every_policy_model_and_itself_is_none(tmp_path):
    read = study(tmp_path, PAIRS + 'policy_models = ["a", "b", "c"]')
    expected = [("a", None), ("a", "b"), ("a", "c"), ("b", "a"), ("b", None), ("b", "c")]
    assert pairs(read) == expected


def test_one_policy_model_may_be_written_alone(tmp_path):
    assert pairs(study(tmp_path, PAIRS + 'policy_model = "c"')) == [("a", "c"), ("b", "c")]
    assert pairs(study(tmp_path, PAIRS)) == [("a", None), ("b", None)]


def test_a_grid_says_otherwise_in_either_spelling(tmp_path):
    text = (
        PAIRS
        + """
policy_model = "c"
[[grid]]
model = "x"
[[grid]]
policy_models = ["d"]
"""
    )
    assert pairs(study(tmp_path, text)) == [("x", "c"), ("a", "d"), ("b", "d")]


def test_agents_answer_beside_each_model(tmp_path):
    text = PAIRS.replace("drpg", "mam_stream_icl")
    for written in ('agents = ["c", "d"]', 'agent = ["c", "d"]'):
        specs = expand(study(tmp_path, text + written))
        assert [(spec.model, spec.agents) for spec in specs] == [
            ("a", ["c", "d"]),
            ("b", ["c", "d"]),
        ]
    (spec, _) = expand(study(tmp_path, text + 'agent = "c"'))
    assert spec.agents == ["c"]
