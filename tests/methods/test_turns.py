import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from learnloop.errors import ParameterError
from learnloop.methods.turns import RoundRobin, ThompsonSampling


@pytest.mark.parametrize(("first", "order"), [(0, [0, 1, 2, 0, 1]), (1, [1, 2, 0, 1, 2])])
def test_round_robin_goes_round_from_the_first(first, order):
    turns = RoundRobin(agents=3, first=first)
    seen = []
    for _ in order:
        assert turns.next() == turns.next()
        seen.append(turns.next())
        turns.learn(turns.next(), right=False)
        turns.pass_on()
    assert seen == order


def sample(turns, agent, *, right, times):
    for _ in range(times):
        turns.pass_on()
        turns.learn(agent, right=right)


def shares(turns, count, agents):
    """How often each agent is drawn while nothing new is known of them."""
    drawn = []
    for _ in range(count):
        turns.pass_on()
        drawn.append(turns.next())
    return np.bincount(drawn, minlength=agents) / count


def test_thompson_draws_an_agent_as_often_as_it_may_be_the_best():
    # Beta(4, 2) against Beta(2, 3); P(first is better) by integration of one density times the
    # other's distribution function, with scipy.
    turns = ThompsonSampling(agents=2, seed=3)
    sample(turns, 0, right=True, times=3)
    sample(turns, 0, right=False, times=1)
    sample(turns, 1, right=True, times=1)
    sample(turns, 1, right=False, times=2)
    grid = np.linspace(0, 1, 20001)
    better = np.trapezoid(stats.beta(4, 2).pdf(grid) * stats.beta(2, 3).cdf(grid), grid)
    share = shares(turns, 4000, agents=2)[0]
    assert abs(share - better) < 4 * np.sqrt(better * (1 - better) / 4000)


def test_thompson_begins_even_and_learns_who_is_right():
    turns = ThompsonSampling(agents=3, seed=1)
    assert shares(turns, 900, agents=3).min() > 0.27
    sample(turns, 1, right=True, times=30)
    sample(turns, 0, right=False, times=30)
    sample(turns, 2, right=False, times=30)
    assert shares(turns, 200, agents=3)[1] > 0.99


def test_a_turn_is_the_same_until_something_is_heard_and_the_same_for_the_same_seed():
    one, other = (ThompsonSampling(agents=4, seed=7) for _ in range(2))
    for _ in range(30):
        assert one.next() == one.next() == other.next()
        for turns in (one, other):
            turns.pass_on()
            turns.learn(turns.next(), right=True)
    drawn = [[ThompsonSampling(agents=9, seed=seed).next() for seed in range(20)]]
    assert len(set(drawn[0])) > 2


@given(verdicts=st.lists(st.booleans(), max_size=60), remembered=st.integers(2, 20))
def test_a_dynamic_belief_is_a_running_mean_of_what_it_remembers(verdicts, remembered):
    # Gupta et al.: below the limit C, counts; from there alpha = (alpha + r) C / (C + 1). So the
    # sum stays at C, and the mean moves by 1 / (C + 1) of the way to each verdict.
    turns = ThompsonSampling(agents=1, seed=0, remembered=remembered)
    alpha, total = 1.0, 2.0
    for right in verdicts:
        turns.learn(0, right=right)
        if total < remembered:
            alpha, total = alpha + right, total + 1
        else:
            mean = alpha / total
            alpha = total * (mean + (right - mean) / (remembered + 1))
    assert turns._alpha[0] == pytest.approx(alpha)
    assert turns._alpha[0] + turns._beta[0] == pytest.approx(total)


def test_a_dynamic_belief_follows_a_change_that_a_static_one_does_not():
    static = ThompsonSampling(agents=2, seed=5)
    dynamic = ThompsonSampling(agents=2, seed=5, remembered=20)
    for turns in (static, dynamic):
        sample(turns, 0, right=True, times=400)
        sample(turns, 0, right=False, times=60)
        for _ in range(3):
            sample(turns, 1, right=True, times=2)
            sample(turns, 1, right=False, times=1)
    assert shares(static, 200, agents=2)[0] > 0.8
    assert shares(dynamic, 200, agents=2)[0] < 0.1


def test_less_than_a_belief_begins_with_cannot_be_remembered():
    with pytest.raises(ParameterError, match="at least 2, got 1"):
        ThompsonSampling(agents=2, seed=0, remembered=1)
