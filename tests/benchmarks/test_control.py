"""What the benchmark of the closed loop measures; not how long it takes."""

import time

import pytest

import control
from learnloop.control import GATES
from learnloop.runner.in_memory import InMemory
from learnloop.settings import read_settings


def test_the_run_that_is_timed_is_a_whole_one_in_which_the_prompt_is_edited():
    maker = InMemory(settings=read_settings(), clock=time.perf_counter)
    summary = maker.summarise(control.spec_of("bayes", seed=1))
    assert (summary.steps, summary.complete, summary.noise) == (120, True, 0.1)
    assert summary.prompt_changes >= 1
    assert summary.calls == {}


def test_every_gate_is_measured_and_compared_with_the_one_that_never_opens():
    found = control.measure(sorted(GATES), runs=1)
    assert set(found["gates"]) == set(GATES)
    assert found["gates"]["never"]["times_never"] == pytest.approx(1.0)
    assert found["steps_per_second"] == found["gates"]["bayes"]["steps_per_second"]
