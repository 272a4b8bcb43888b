"""The study files that come with the project: what they say that they are."""

from pathlib import Path

import pytest

from learnloop.runner.building import normalise
from learnloop.runner.streams import Streams
from learnloop.runner.study import expand, expand_summaries, read_study

STUDIES = Path(__file__).parents[1] / "studies"
BENCHMARKS = {"spider", "cosql", "bird", "ddxplus", "ds1000", "hotpotqa"}


def specs(name):
    return [normalise(spec) for spec in expand(read_study(STUDIES / name))]


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_run_of_every_study_can_be_planned(path):
    study = read_study(path)
    streams = Streams(need_data=False)
    runs = [normalise(spec) for spec in (*expand(study), *expand_summaries(study))]
    assert all(streams.find(spec).length for spec in runs)


def test_the_grid_of_the_paper_is_four_methods_by_seven_models_by_six_benchmarks():
    runs = specs("drpg.toml")
    assert len(runs) == len({run.hash for run in runs}) == 168
    assert len({run.model for run in runs}) == 7
    assert {run.method for run in runs} == {"zero_shot", "self_refine", "self_stream_icl", "drpg"}
    assert {run.environment for run in runs} == {f"{name}_published" for name in BENCHMARKS}
    assert {(run.seed, run.steps, run.feedback) for run in runs} == {(42, None, "binary")}


def test_k_is_sixteen_and_four_where_queries_are_long():
    k = {
        (run.environment.removesuffix("_published"), run.method_params["k"])
        for run in [*specs("drpg.toml"), *specs("drpg_more_models.toml")]
        if "k" in run.method_params
    }
    short = {"spider", "cosql", "bird", "ddxplus"}
    assert k == {(name, 16 if name in short else 4) for name in BENCHMARKS}


def test_two_more_models_are_a_study_of_their_own():
    runs = specs("drpg_more_models.toml")
    assert len(runs) == 2 * 4 * 6
    more = {(run.environment, run.method, str(run.method_params)) for run in runs}
    paper = specs("drpg.toml")
    assert more == {(run.environment, run.method, str(run.method_params)) for run in paper}
