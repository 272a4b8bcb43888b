"""Every gate of the registry, by name."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import learnloop.control
from learnloop.checks.gates import check_gate
from learnloop.control import GATES
from learnloop.control.ranges import check_range
from learnloop.errors import ParameterError

FILES = sorted(Path(learnloop.control.__file__).parent.glob("*.py"))
BLIND = {"fixed"}
WRONG_PARAMS = [
    ("fixed", {"every": 0}),
    ("proportional", {"threshold": 0.0}),
    ("proportional", {"threshold": 1.1}),
    ("integral", {"window": 0}),
    ("integral", {"threshold": 0.0}),
    ("integral", {"window": 3, "threshold": 4.0}),
    ("leaky_integral", {"leak": 0.0}),
    ("leaky_integral", {"leak": 1.1}),
    ("leaky_integral", {"setpoint": 1.0}),
    ("leaky_integral", {"limit": 1.0, "threshold": 1.5}),
    ("leaky_integral", {"leak": 0.5, "threshold": 1.5}),
    ("derivative", {"short": 0}),
    ("derivative", {"short": 10, "long": 10}),
    ("derivative", {"threshold": 0.71}),
    ("pid", {"kp": -1.0}),
    ("pid", {"filter": 0.0}),
    ("pid", {"rearm_at": 1.5}),
    ("pid", {"kp": 0.0, "ki": 0.0}),
    ("cusum", {"threshold": 0.0}),
    ("cusum", {"setpoint": 1.0}),
    ("cusum", {"threshold": float("nan")}),
    ("adaptive_cusum", {"gamma": 1.0}),
    ("adaptive_cusum", {"floor": 0.0}),
    ("adaptive_cusum", {"ceiling": 0.5}),
    ("adaptive_cusum", {"prior_right": 0.0}),
    ("bayes", {"threshold": 1.0}),
    ("bayes", {"hazard": 0.0}),
    ("bayes", {"success": 1.1}),
    ("bayes", {"noise_levels": ()}),
    ("bayes", {"noise_levels": (0.1, 0.5)}),
    ("e_detector", {"tolerated": 0.0}),
    ("e_detector", {"bet": 1 / 0.3}),
    ("e_detector", {"gamma": float("inf")}),
    ("adwin", {"delta": 0.0}),
    ("ddm", {"drift_threshold": 1.0}),
    ("page_hinkley", {"mode": "sideways"}),
]


def with_a_gate(path):
    """Whether a file defines a class called a gate."""
    nodes = ast.parse(path.read_text()).body
    return any(isinstance(node, ast.ClassDef) and node.name.endswith("Gate") for node in nodes)


@pytest.mark.parametrize("name", sorted(GATES))
def test_a_gate_keeps_the_contract(name):
    check_gate(lambda: GATES.create(name), blind=name in BLIND)


@pytest.mark.parametrize("name", sorted(GATES))
def test_a_gate_stands_in_the_file_of_its_name(name):
    assert GATES.load(name).__module__ == f"learnloop.control.{name}"


def test_every_file_with_a_gate_is_registered():
    assert {path.stem for path in FILES if with_a_gate(path)} == set(GATES)


@pytest.mark.parametrize("name", sorted(GATES))
def test_a_gate_has_slots_and_shows_its_parameters(name):
    gate = GATES.create(name)
    assert not hasattr(gate, "__dict__")
    assert repr(gate).startswith(type(gate).__name__)
    assert "_calls" not in repr(gate)


@pytest.mark.parametrize(
    ("name", "params"), WRONG_PARAMS, ids=[f"{name} {params}" for name, params in WRONG_PARAMS]
)
def test_a_parameter_out_of_range_is_refused(name, params):
    with pytest.raises(ParameterError) as refused:
        GATES.create(name, **params)
    assert any(parameter in str(refused.value) for parameter in params)


@pytest.mark.parametrize("name", sorted(set(GATES) - BLIND - {"never"}))
def test_a_gate_sees_a_long_run_of_errors_after_a_long_run_without(name):
    quick = {"adwin": {"clock": 1}, "page_hinkley": {"threshold": 5.0}}
    gate = GATES.create(name, **quick.get(name, {}))
    before = [gate.decide(0.0).opened for _ in range(100)]
    assert not any(before)
    assert any(gate.decide(1.0).opened for _ in range(50))


@pytest.mark.parametrize("name", ["cusum", "leaky_integral", "adaptive_cusum"])
@given(errors=st.lists(st.sampled_from([0.0, 1.0]), max_size=30))
def test_an_error_of_one_half_says_nothing_to_a_symmetric_gate(name, errors):
    gate = GATES.create(name)
    before = [gate.decide(error).signal for error in (0.0, *errors)][-1]
    assert gate.decide(0.5).signal == before


@pytest.mark.parametrize("value", [0.0, 1.5, float("nan"), float("inf"), float("-inf")])
def test_a_range_names_what_was_wanted_and_given(value):
    with pytest.raises(ParameterError, match=r"^leak must be above 0 and at most 1, not "):
        check_range("leak", value, above=0, at_most=1)
