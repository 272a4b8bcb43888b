import itertools
from dataclasses import replace

import pytest

from learnloop.checks.gates import check_gate
from learnloop.control.cusum import CUSUMGate
from learnloop.control.fixed import FixedGate
from learnloop.control.proportional import ProportionalGate
from learnloop.types import Decision


class Altered:
    """A sound gate whose decisions are changed by a function of them and the call."""

    def __init__(self, change):
        self.gate = ProportionalGate()
        self.change = change
        self.calls = 0

    def decide(self, error):
        decision = self.change(self.gate.decide(error), self.calls)
        self.calls += 1
        return decision

    def reset(self, *, changed=True):
        self.gate.reset(changed=changed)


class Hoarder(ProportionalGate):
    """Keeps every error."""

    def __init__(self):
        super().__init__()
        self.errors = []

    def decide(self, error):
        decision = super().decide(error)
        self.errors.append(error)
        return decision


class Shared(ProportionalGate):
    """All gates of the kind count together."""

    calls = itertools.count()

    def decide(self, error):
        decision = super().decide(error)
        return replace(decision, signal=float(next(self.calls)))


class Credulous(ProportionalGate):
    """Takes any error."""

    def decide(self, error):
        return Decision(opened=error > 1, signal=0.0, terms={})


def altered(**changes):
    return lambda: Altered(lambda decision, call: replace(decision, **changes))


def ahead(decision, call):
    return replace(decision, change_point=call + 1)


def test_a_gate_that_goes_by_the_clock_passes_as_blind_only():
    check_gate(FixedGate, blind=True)
    with pytest.raises(AssertionError, match="without an error"):
        check_gate(FixedGate)


def test_a_gate_with_state_passes():
    check_gate(CUSUMGate)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (altered(signal=float("inf")), "signal is inf"),
        (altered(terms={"p": float("-inf")}), "p is -inf"),
        (altered(change_point=0), "change point 0"),
        (lambda: Altered(ahead), "change point 1 at call 0"),
        (Hoarder, "grew from"),
        (Shared, "differ"),
        (Credulous, "must raise ParameterError"),
    ],
    ids=["signal", "term", "old change", "future change", "hoarder", "shared", "credulous"],
)
def test_a_broken_gate_is_found_out(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_gate(broken)
