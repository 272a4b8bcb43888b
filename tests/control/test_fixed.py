from learnloop.control.fixed import FixedGate
from learnloop.control.never import NeverGate


def test_a_stream_of_120_is_edited_eight_times_at_every_fifteenth_step():
    gate = FixedGate(every=15)
    opened = [step for step in range(1, 121) if gate.decide(0.0).opened]
    assert opened == [15, 30, 45, 60, 75, 90, 105, 120]


def test_a_reset_does_not_shift_the_clock():
    gate = FixedGate(every=3)
    opened = []
    for step in range(1, 10):
        opened.append(gate.decide(1.0).opened)
        gate.reset(changed=bool(step % 2))
    assert opened == [False, False, True] * 3


def test_never_is_never():
    gate = NeverGate()
    assert not any(gate.decide(1.0).opened for _ in range(200))
