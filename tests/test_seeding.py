import numpy as np
import pytest

from learnloop.seeding import stream


def test_a_seed_and_a_purpose_always_give_the_same_numbers():
    assert (stream(7, "order").random(20) == stream(7, "order").random(20)).all()


@pytest.mark.parametrize(("seed", "purpose"), [(7, "sensor"), (8, "order")])
def test_another_seed_or_purpose_gives_other_numbers(seed, purpose):
    assert not np.isin(stream(7, "order").random(100), stream(seed, purpose).random(100)).any()


def test_drawing_from_one_stream_leaves_the_others_alone():
    first = stream(7, "order")
    stream(7, "sensor").random(50)
    assert first.random() == stream(7, "order").random()


def test_two_purposes_are_not_correlated():
    pair = np.corrcoef(stream(1, "order").random(5000), stream(1, "sensor").random(5000))
    assert abs(pair[0, 1]) < 0.06  # four standard errors of 5,000 independent pairs
