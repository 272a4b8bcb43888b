import sys

import numpy as np
import pytest
from river import drift

from learnloop.control import GATES
from learnloop.errors import MissingExtraError

DETECTORS = {
    "adwin": (drift.ADWIN, {"clock": 4, "delta": 0.05}),
    "ddm": (drift.binary.DDM, {"warm_start": 10}),
    "page_hinkley": (drift.PageHinkley, {"threshold": 5.0, "mode": "up"}),
}


def stream():
    rng = np.random.default_rng(9)
    rates = np.repeat([0.1, 0.9, 0.2, 0.8], 100)
    return (rng.random(400) < rates).astype(float).tolist()


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_a_gate_opens_where_its_detector_detects(name):
    make, params = DETECTORS[name]
    gate, detector, opened = GATES.create(name, **params), make(**params), 0
    for error in stream():
        detector.update(error)
        opened += detector.drift_detected
        assert gate.decide(error).opened == detector.drift_detected
    assert opened > 0


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_a_reset_makes_it_forget(name):
    _, params = DETECTORS[name]
    used, fresh = (GATES.create(name, **params) for _ in range(2))
    for error in stream()[:150]:
        used.decide(error)
    used.reset()
    for error in stream():
        assert used.decide(error).opened == fresh.decide(error).opened


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_without_the_library_the_error_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'learnloop\[drift\]'"):
        GATES.create(name)


def test_ddm_dates_the_change_by_the_warning_that_led_to_it():
    gate = GATES.create("ddm", warm_start=10)
    errors = [float(call % 5 == 0) for call in range(60)] + [1.0] * 20
    decisions = [gate.decide(error) for error in errors]
    opened = [call for call, decision in enumerate(decisions) if decision.opened]
    warned = [call for call, decision in enumerate(decisions) if decision.terms["warning"]]
    assert decisions[opened[0]].change_point == warned[0]
    assert 60 <= warned[0] < opened[0]
