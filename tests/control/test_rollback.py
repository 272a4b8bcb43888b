import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control import TRIALS
from learnloop.control.betting import BettingTrial
from learnloop.control.sprt import SPRTTrial, margin_for
from learnloop.errors import ParameterError

ERRORS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=60)


def judge(trial, step):
    """Tell a trial of one observation on which the new prompt was better by `step`, -1 to 1."""
    return trial.judge(new=max(-step, 0.0), old=max(step, 0.0))


def outcomes(trial, chances, *, depth):
    """Probability of each verdict and mean length over all sequences of steps, by enumeration.

    `chances` gives the probability of each step, where those before are given.
    """
    ends, mean = Counter(), 0.0
    open_ends = [((), 1.0)]
    while open_ends:
        steps, chance = open_ends.pop()
        trial.begin()
        verdict = [judge(trial, step) for step in steps][-1] if steps else "open"
        if verdict == "open" and len(steps) < depth:
            open_ends += [((*steps, s), chance * p) for s, p in chances(steps).items() if p]
        else:
            ends[verdict] += chance
            mean += chance * len(steps)
    return ends, mean


def ruin(margin, right):
    """Chance to fall to -margin first, and mean length, of a walk that rises at rate `right`."""
    inner = 2 * margin - 1
    walk = np.diag(np.full(inner - 1, right), 1) + np.diag(np.full(inner - 1, 1 - right), -1)
    falls, ones = np.zeros(inner), np.ones(inner)
    falls[0] = 1 - right
    lost, steps = np.linalg.solve(np.eye(inner) - walk, np.column_stack([falls, ones])).T
    return lost[margin - 1], steps[margin - 1]


@pytest.mark.parametrize("eta", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("margin", [1, 2, 3])
def test_the_sprt_is_the_ruin_of_a_gambler(margin, eta):
    ends, mean = outcomes(
        SPRTTrial(margin=margin, longest=99), lambda _: {1.0: 1 - eta, -1.0: eta}, depth=14
    )
    lost, steps = ruin(margin, 1 - eta)
    assert -1e-12 <= lost - ends["roll_back"] <= ends["open"] + 1e-12
    assert lost == pytest.approx(eta**margin / (eta**margin + (1 - eta) ** margin))
    # Who is not through after 14 steps needs at most another margin squared in the mean.
    assert -1e-9 <= steps - mean <= ends["open"] * margin**2 + 1e-9
    assert steps == pytest.approx(margin * (1 - 2 * lost) / (1 - 2 * eta))


@pytest.mark.parametrize(
    ("eta", "margin", "error", "steps"),
    [(0.1, 2, 0.012, 2.4), (0.2, 2, 0.059, 2.9), (0.2, 3, 0.015, 4.8)],
)
def test_the_sprt_errs_and_lasts_as_computed(eta, margin, error, steps):
    runs, rng = 2000, np.random.default_rng(margin)
    verdicts, lengths = Counter(), []
    trial = SPRTTrial(margin=margin, longest=999)
    for _ in range(runs):
        trial.begin()
        verdict, length = "open", 0
        while verdict == "open":
            verdict, length = judge(trial, -1.0 if rng.random() < eta else 1.0), length + 1
        verdicts[verdict] += 1
        lengths.append(length)
    lost = eta**margin / (eta**margin + (1 - eta) ** margin)
    assert round(lost, 3) == error
    assert abs(verdicts["roll_back"] / runs - lost) < 4 * math.sqrt(lost * (1 - lost) / runs)
    expected = margin * (1 - 2 * lost) / (1 - 2 * eta)
    assert round(expected, 1) == steps
    assert abs(np.mean(lengths) - expected) < 4 * np.std(lengths, ddof=1) / math.sqrt(runs)


@given(noise=st.floats(0.01, 0.45), wrong=st.floats(0.001, 0.4))
def test_the_margin_for_a_risk_is_the_least_that_keeps_it(noise, wrong):
    def risk(margin):
        return noise**margin / (noise**margin + (1 - noise) ** margin)

    margin = margin_for(noise=noise, wrong=wrong)
    assert risk(margin) <= wrong * (1 + 1e-6)
    assert margin == 1 or risk(margin - 1) > wrong * (1 - 1e-6)


@pytest.mark.parametrize("params", [{"noise": 0.5, "wrong": 0.1}, {"noise": 0.1, "wrong": 0.0}])
def test_there_is_no_margin_where_labels_or_verdicts_may_be_as_often_wrong_as_right(params):
    with pytest.raises(ParameterError):
        margin_for(**params)


FAIR = {
    "a fair coin": lambda steps: {1.0: 0.5, -1.0: 0.5},
    "rare large losses": lambda steps: {0.25: 0.8, -1.0: 0.2},
    "rare large gains": lambda steps: {-0.25: 0.8, 1.0: 0.2},
    "one that waits for luck": lambda steps: (
        {1.0: 0.5, -1.0: 0.5} if sum(steps) > -3 else {0.0: 1.0}
    ),
}


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("game", FAIR.values(), ids=FAIR)
def test_a_fair_game_makes_no_bettor_rich_more_often_than_alpha(game, alpha):
    # Ville: over all 2^13 sequences, each weighted with its probability; no simulation.
    ends, _ = outcomes(BettingTrial(alpha=alpha, longest=100), game, depth=13)
    assert ends["keep"] <= alpha + 1e-12
    assert ends["roll_back"] <= alpha + 1e-12


@pytest.mark.parametrize("step", [1.0, -1.0])
@pytest.mark.parametrize(("alpha", "bet"), [(0.05, 0.5), (0.2, 0.5), (0.01, 0.9), (0.3, 0.1)])
def test_luck_alone_makes_a_bettor_rich_after_as_many_steps_as_the_wealth_takes(alpha, bet, step):
    trial = BettingTrial(alpha=alpha, bet=bet, longest=99)
    trial.begin()
    steps = 1
    while judge(trial, step) == "open":
        steps += 1
    assert steps == math.ceil(math.log(1 / alpha) / math.log(1 + bet))


def test_a_trial_of_the_default_length_is_seldom_cut_short():
    # Two steps apart at the end of each pair, else back at 0: (2 * .2 * .8)^4 are still open.
    ends, _ = outcomes(SPRTTrial(longest=9), lambda _: {1.0: 0.8, -1.0: 0.2}, depth=8)
    assert ends["open"] == pytest.approx(0.32**4)
    assert SPRTTrial().longest == 8


def test_the_bettor_decides_wrongly_less_often_than_alpha_and_rightly_before_long():
    runs, alpha, rng = 1000, 0.05, np.random.default_rng(5)
    verdicts = {"worse": Counter(), "no better": Counter()}
    for case, right in (("worse", 0.2), ("no better", 0.5)):
        for _ in range(runs):
            trial = BettingTrial(alpha=alpha, longest=61)
            trial.begin()
            steps = np.where(rng.random(60) < right, 1.0, -1.0)
            ends = (verdict for step in steps if (verdict := judge(trial, step)) != "open")
            verdicts[case][next(ends, "open")] += 1
    within = 4 * math.sqrt(alpha * (1 - alpha) / runs)
    assert verdicts["worse"]["keep"] / runs <= alpha + within
    assert verdicts["no better"]["keep"] / runs <= alpha + within
    # Log wealth drifts by .8 log 1.5 + .2 log .5 = .186 a step: 60 steps give 11, of 3 needed.
    assert verdicts["worse"]["roll_back"] / runs > 0.95


@pytest.mark.parametrize("name", sorted(TRIALS))
@given(errors=ERRORS)
def test_a_trial_is_fair_to_both_prompts(name, errors):
    one, other = TRIALS.create(name, longest=100), TRIALS.create(name, longest=100)
    mirror = {"open": "open", "keep": "roll_back", "roll_back": "keep"}
    one.begin()
    other.begin()
    for new, old in errors:
        verdict = one.judge(new=new, old=old)
        assert other.judge(new=old, old=new) == mirror[verdict]
        if verdict != "open":
            break


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_a_trial_in_which_both_prompts_do_alike_keeps_the_new_one_in_the_end(name):
    trial = TRIALS.create(name, longest=5)
    trial.begin()
    both = [trial.judge(new=error, old=error) for error in (0.0, 1.0, 0.5, 1.0, 0.0)]
    assert both == ["open"] * 4 + ["keep"]


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_the_last_observation_can_still_roll_back(name):
    worse = TRIALS.create(name)
    worse.begin()
    needed = 1
    while judge(worse, -1.0) == "open":
        needed += 1
    trial = TRIALS.create(name, longest=needed)
    trial.begin()
    assert [judge(trial, -1.0) for _ in range(needed)][-1] == "roll_back"


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_a_new_trial_knows_nothing_of_the_one_before(name):
    trial, fresh = TRIALS.create(name), TRIALS.create(name)
    trial.begin()
    while judge(trial, -1.0) == "open":
        pass
    trial.begin()
    fresh.begin()
    steps = [1.0, -1.0] + [1.0] * 20
    assert [judge(trial, step) for step in steps] == [judge(fresh, step) for step in steps]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("sprt", {"margin": 0}),
        ("sprt", {"longest": 0}),
        ("betting", {"alpha": 0.0}),
        ("betting", {"alpha": 1.0}),
        ("betting", {"bet": 1.0}),
        ("betting", {"longest": 0}),
    ],
)
def test_a_parameter_of_a_trial_that_is_out_of_range_is_refused(name, params):
    with pytest.raises(ParameterError, match=next(iter(params))):
        TRIALS.create(name, **params)


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_a_trial_refuses_what_is_no_error(name):
    trial = TRIALS.create(name)
    trial.begin()
    with pytest.raises(ParameterError, match="from 0"):
        trial.judge(new=2.0, old=0.0)


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_a_trial_stands_in_the_file_of_its_name(name):
    assert TRIALS.load(name).__module__ == f"learnloop.control.{name}"
