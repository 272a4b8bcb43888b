"""What every gate must do, also those of plugins: call `check_gate` on what makes yours."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterator, Sequence

from learnloop.errors import ParameterError
from learnloop.protocols import Gate
from learnloop.types import Decision

CALLS = 600
LONG = 4000
GROWTH = 64
"""Bytes by which a pickled gate may grow over a long run: a few numbers with more digits."""


def check_gate(make_gate: Callable[[], Gate], *, blind: bool = False) -> None:
    """Check that a gate is arithmetic on the errors it was told, and nothing else.

    Args:
        make_gate: Makes a fresh gate, always the same one.
        blind: Whether the gate opens without regard to errors, as one that goes by the clock does.

    Raises:
        AssertionError: It breaks the contract; the message says where.
    """
    check_same_errors_same_decisions(make_gate)
    check_gates_are_independent(make_gate)
    check_decisions_are_sound(make_gate)
    check_impossible_errors_are_refused(make_gate)
    check_memory_is_bounded(make_gate)
    check_a_pickled_gate_goes_on(make_gate)
    if not blind:
        check_silent_before_the_first_error(make_gate)


def check_same_errors_same_decisions(make_gate: Callable[[], Gate]) -> None:
    """Two gates that were told the same decided the same."""
    for name, errors in _streams().items():
        one, two = (list(_drive(make_gate(), errors)) for _ in range(2))
        assert one == two, f"two runs over the same errors ({name}) differ"


def check_gates_are_independent(make_gate: Callable[[], Gate]) -> None:
    """What one gate is told is nothing to another."""
    errors = _streams()["noisy"]
    alone = [make_gate()]
    expected = [alone[0].decide(error) for error in errors]
    one, other = make_gate(), make_gate()
    for call, error in enumerate(errors):
        other.decide(1.0)
        other.reset(changed=bool(call % 2))
        assert one.decide(error) == expected[call], f"another gate has a say in call {call}"


def check_decisions_are_sound(make_gate: Callable[[], Gate]) -> None:
    """Signal and terms are finite; a change point lies under the present prompt, not ahead."""
    for name, errors in _streams().items():
        gate, start = make_gate(), 0
        gate.reset(changed=False)
        gate.reset(changed=True)
        for call, error in enumerate(errors):
            decision = gate.decide(error)
            _check_decision(decision, call, start, name)
            if decision.opened or call % 50 == 0:
                gate.reset(changed=bool(call % 2))
                start = call + 1 if call % 2 else start


def check_impossible_errors_are_refused(make_gate: Callable[[], Gate]) -> None:
    """An error that is no number from 0 to 1 raises, and leaves the gate as it was."""
    gate, untouched = make_gate(), make_gate()
    for error in (-0.01, 1.01, math.nan, math.inf):
        try:
            gate.decide(error)
        except ParameterError:
            continue
        raise AssertionError(f"decide({error!r}) must raise ParameterError")
    assert gate.decide(1.0) == untouched.decide(1.0), "a refused error has left a trace"


def check_memory_is_bounded(make_gate: Callable[[], Gate]) -> None:
    """A gate forgets: it does not grow with the number of errors it was told."""
    gate = make_gate()
    for error in _random_errors(LONG, rate=0.3):
        gate.decide(error)
    middle = len(pickle.dumps(gate))
    for error in _random_errors(LONG, rate=0.3):
        gate.decide(error)
    end = len(pickle.dumps(gate))
    assert end <= middle * 1.2 + GROWTH, (
        f"the pickled gate grew from {middle} bytes after {LONG} errors to {end} after {2 * LONG}"
    )


def check_a_pickled_gate_goes_on(make_gate: Callable[[], Gate]) -> None:
    """A gate that was stored and read again decides as if it had never been away."""
    gate, errors = make_gate(), _streams()["noisy"]
    for error in errors[: CALLS // 2]:
        gate.decide(error)
    read = pickle.loads(pickle.dumps(gate))
    for error in errors[CALLS // 2 :]:
        assert gate.decide(error) == read.decide(error), "a pickled gate decides otherwise"


def check_silent_before_the_first_error(make_gate: Callable[[], Gate]) -> None:
    """Right answers alone open nothing, and date no change."""
    gate = make_gate()
    for call in range(CALLS):
        decision = gate.decide(0.0)
        assert not decision.opened, f"opened at call {call} without an error"
        assert decision.change_point is None, f"a change point at call {call} without an error"


def _check_decision(decision: Decision, call: int, start: int, name: str) -> None:
    numbers = {"signal": decision.signal, **decision.terms}
    for term, value in numbers.items():
        assert math.isfinite(value), f"{term} is {value!r} at call {call} ({name})"
    assert "signal" not in decision.terms, "a term must not be called signal"
    point = decision.change_point
    assert point is None or start <= point <= call, (
        f"change point {point!r} at call {call} of a prompt in force since call {start} ({name})"
    )


def _drive(gate: Gate, errors: Sequence[float]) -> Iterator[Decision]:
    """Run the gate as a loop would: a reset after each opening, some of them in vain."""
    for call, error in enumerate(errors):
        decision = gate.decide(error)
        yield decision
        if decision.opened:
            gate.reset(changed=bool(call % 2))


def _streams() -> dict[str, list[float]]:
    rng = random.Random(7)
    return {
        "right": [0.0] * CALLS,
        "wrong": [1.0] * LONG,
        "half": [0.5] * CALLS,
        "graded": [rng.random() for _ in range(CALLS)],
        "noisy": [*_random_errors(CALLS // 2, rate=0.1), *_random_errors(CALLS // 2, rate=0.9)],
    }


def _random_errors(count: int, *, rate: float) -> list[float]:
    rng = random.Random(11)
    return [float(rng.random() < rate) for _ in range(count)]
