import math

import pytest

from learnloop.errors import ParameterError
from learnloop.reports.guess_ceiling import GuessingGame, guess_ceiling, least_search_steps

# what the sensor corrupts: mean absolute error at eta 0, .1 and .2, each the mean of 60 runs
KNOWN = {"direction": (1.15, 1.39, 1.73), "message": (1.19, 2.16, 2.25)}
KNOWN_RUNS = 60
ROUNDING = 1e-12


def chance(game, guess, number, hint):
    """Return the probability of a hint (word, bucket), by the words of the game."""
    bucket = abs(guess - number) // game.bucket
    words = {True: ("low", bucket), False: ("high", bucket)}
    clean = ("exact", 0) if guess == number else words[guess < number]
    if hint == clean:
        return 1 - game.eta
    if game.corrupts == "message":
        return game.eta / (2 * game.buckets)
    if clean == ("exact", 0):
        return game.eta / 2 if hint in (("low", 0), ("high", 0)) else 0.0
    return game.eta if hint[1] == bucket and {hint[0], clean[0]} == {"low", "high"} else 0.0


def exact_error(game):
    """Return the expected error of the tracker, from every history of hints."""
    numbers = range(1, game.numbers + 1)
    hints = [("exact", 0), *((w, b) for w in ("low", "high") for b in range(game.buckets))]

    def onward(step, truth, belief):
        if step == game.steps:
            return 0.0
        if step and step % game.period == 0:
            truth = [sum(truth) / game.numbers] * game.numbers
        belief = [b * (1 - 1 / game.period) + 1 / game.period / game.numbers for b in belief]
        guess = next(n for n in numbers if sum(belief[:n]) >= 0.5 - ROUNDING)
        cost = sum(weight * abs(guess - n) for n, weight in zip(numbers, truth, strict=True))
        for hint in hints:
            seen = [chance(game, guess, n, hint) for n in numbers]
            history = [weight * s for weight, s in zip(truth, seen, strict=True)]
            joint = [b * s for b, s in zip(belief, seen, strict=True)]
            if sum(history) > 0:
                cost += onward(step + 1, history, [j / sum(joint) for j in joint])
        return cost

    flat = [1 / game.numbers] * game.numbers
    return onward(0, flat, flat) / game.steps


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("corrupts", KNOWN)
def test_the_tracker_is_as_near_as_known(corrupts, place):
    found = guess_ceiling(GuessingGame(eta=place / 10, corrupts=corrupts))
    known_error = found.standard_error * math.sqrt(found.runs / KNOWN_RUNS)
    bound = 4 * math.hypot(found.standard_error, known_error) + 0.005
    assert found.mean == pytest.approx(KNOWN[corrupts][place], abs=bound)


@pytest.mark.parametrize("corrupts", ["direction", "message"])
@pytest.mark.parametrize(("eta", "period"), [(0.0, 10), (0.2, 10), (0.2, 2), (0.4, 3)])
def test_sampled_games_agree_with_every_history_counted(corrupts, eta, period):
    game = GuessingGame(eta=eta, corrupts=corrupts, steps=4, period=period, numbers=7, bucket=3)
    found = guess_ceiling(game, runs=20_000, seed=3)
    assert found.mean == pytest.approx(exact_error(game), abs=4 * found.standard_error)


def test_more_noise_makes_the_tracker_worse():
    for corrupts in KNOWN:
        clean, noisy, noisier = (
            guess_ceiling(GuessingGame(eta=eta, corrupts=corrupts)).mean for eta in (0, 0.1, 0.2)
        )
        assert clean < noisy < noisier


def test_the_same_seed_gives_the_same_estimate_and_another_another():
    game = GuessingGame(eta=0.1)
    first = guess_ceiling(game, runs=50, seed=1)
    guess_ceiling.cache_clear()
    assert guess_ceiling(game, runs=50, seed=1) == first
    assert guess_ceiling(game, runs=50, seed=2) != first


def test_a_hint_that_is_always_the_other_direction_tells_as_much_as_the_right_one():
    steps = {eta: least_search_steps(eta) for eta in (0, 1)}
    assert steps[0] == steps[1] == pytest.approx(math.log2(100))


@pytest.mark.parametrize(
    ("eta", "steps"), [(0.0, 6.6), (0.1, 12.5), (0.2, 23.9), (0.3, 56.0), (0.5, math.inf)]
)
def test_directions_alone_need_the_known_number_of_steps(eta, steps):
    assert least_search_steps(eta) == pytest.approx(steps, abs=0.05)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: GuessingGame(eta=2), "eta must be from 0 to 1, got 2"),
        (lambda: GuessingGame(eta=0.1, corrupts="all"), "direction or message, got 'all'"),
        (lambda: GuessingGame(eta=0.1, period=0), "period must be at least 1, got 0"),
        (lambda: GuessingGame(eta=0.1, numbers=1), "numbers must be at least 2"),
        (lambda: guess_ceiling(GuessingGame(eta=0.1), runs=1), "runs must be at least 2"),
        (lambda: least_search_steps(-1), "eta"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(ParameterError, match=said):
        call()
