import functools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ParameterError
from learnloop.reports.belief_grid import FlippingRule, belief_moves
from learnloop.reports.frontier import FrontierPoint, accuracy_at, frontier

# eta: [(accuracy, edits)] at prices 0, 1, 4 and 8, the means of 20,000 simulated runs. Edits of a
# run spread by 3 at most and accuracy by 0.08, so four standard errors are 0.085 and 0.0023
KNOWN_PRICES = (0.0, 1.0, 4.0, 8.0)
KNOWN = {
    0.0: [(0.967, 3.95), (0.967, 3.91), (0.964, 3.81), (0.951, 3.54)],
    0.05: [(0.932, 4.97), (0.930, 4.06), (0.927, 3.92), (0.891, 3.03)],
    0.1: [(0.920, 6.38), (0.904, 3.91), (0.894, 3.34), (0.863, 2.79)],
    0.2: [(0.875, 9.46), (0.868, 4.65), (0.845, 3.05), (0.814, 2.42)],
    0.3: [(0.812, 12.2), (0.798, 3.97), (0.772, 2.52), (0.736, 1.78)],
}
# price: optimal thresholds for the same values of eta
KNOWN_THRESHOLDS = {
    0.0: [0.50, 0.50, 0.50, 0.50, 0.50],
    0.5: [0.68, 0.69, 0.69, 0.69, 0.66],
    1.0: [0.77, 0.78, 0.78, 0.75, 0.72],
    2.0: [0.86, 0.86, 0.85, 0.83, 0.78],
    4.0: [0.93, 0.93, 0.92, 0.90, 0.85],
    8.0: [0.98, 0.97, 0.97, 0.95, 0.92],
}
RULES = st.builds(
    FlippingRule,
    eta=st.floats(0, 0.5),
    hazard=st.floats(0, 0.5),
    steps=st.integers(1, 25),
    repair=st.floats(0, 1),
)
RISING_PRICES = st.lists(st.floats(0, 20), min_size=2, max_size=5).map(lambda p: tuple(sorted(p)))


def least_cost(rule, price):
    """Return the least cost by looking at every sequence of observations and edits."""

    def after_drift(belief):
        return belief + rule.hazard * (1 - 2 * belief)

    @functools.cache
    def to_come(belief, left):
        return min(onward(belief, left), price + onward(edited(belief), left))

    def edited(belief):
        return belief + rule.repair * (1 - 2 * belief)

    def onward(belief, left):
        if not left:
            return 0.0
        stale = after_drift(belief)
        cost = stale
        for if_stale, if_healthy in ((1 - rule.eta, rule.eta), (rule.eta, 1 - rule.eta)):
            seen = stale * if_stale + (1 - stale) * if_healthy
            if seen > 0:
                cost += seen * to_come(stale * if_stale / seen, left - 1)
        return cost

    return to_come(0.0, rule.steps - 1)


@pytest.mark.parametrize("eta", KNOWN)
def test_the_frontier_is_the_known_one(eta):
    found = frontier(FlippingRule(eta=eta), prices=KNOWN_PRICES)
    for point, (accuracy, edits) in zip(found, KNOWN[eta], strict=True):
        assert point.accuracy == pytest.approx(accuracy, abs=0.0023)
        assert point.edits == pytest.approx(edits, abs=0.085)


@pytest.mark.parametrize("price", KNOWN_THRESHOLDS)
def test_thresholds_are_the_known_ones(price):
    found = [frontier(FlippingRule(eta=eta), prices=(price,))[0].threshold for eta in KNOWN]
    assert found == pytest.approx(KNOWN_THRESHOLDS[price], abs=0.011)


@pytest.mark.parametrize("repair", [1.0, 0.7])
@pytest.mark.parametrize("eta", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("price", [0.0, 0.5, 2.0])
def test_the_grid_agrees_with_every_sequence_looked_at(eta, repair, price):
    rule = FlippingRule(eta=eta, hazard=0.1, steps=8, repair=repair)
    (point,) = frontier(rule, prices=(price,))
    cost = (1 - point.accuracy) * rule.steps + price * point.edits
    assert cost == pytest.approx(least_cost(rule, price), abs=1e-5)


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.2])
def test_where_no_edit_pays_the_rule_is_right_by_the_parity_of_its_flips(eta):
    (point,) = frontier(FlippingRule(eta=eta), prices=(16.0,))
    steps, kept = 120, 1 - 2 / 30
    assert point.accuracy == pytest.approx(0.5 + (1 - kept**steps) / (1 - kept) / (2 * steps))
    assert (point.edits, point.threshold) == (0, None)


def test_without_noise_every_flip_that_can_still_cost_a_step_is_mended():
    (point,) = frontier(FlippingRule(eta=0.0), prices=(0.0,))
    assert point.accuracy == pytest.approx(1 - 119 / 30 / 120)
    assert point.edits == pytest.approx(118 / 30)


def test_pure_noise_is_worth_no_edit():
    (point,) = frontier(FlippingRule(eta=0.5, hazard=0.1), prices=(0.5,))
    assert point.edits == pytest.approx(0)


@settings(max_examples=60, deadline=None)
@given(RULES, RISING_PRICES)
def test_dearer_edits_are_fewer_and_leave_more_steps_stale(rule, prices):
    points = frontier(rule, prices=prices, size=101)
    for cheap, dear in zip(points, points[1:], strict=False):
        assert dear.edits <= cheap.edits + 1e-6
        assert dear.accuracy <= cheap.accuracy + 1e-9


@settings(max_examples=60, deadline=None)
@given(RULES)
def test_the_mean_of_a_belief_is_kept_by_what_it_expects_to_see(rule):
    moves = belief_moves(rule, 101)
    assert moves.expected @ moves.points == pytest.approx(moves.prior)
    for matrix in (moves.healthy, moves.stale, moves.expected, moves.edited):
        assert matrix.sum(axis=1) == pytest.approx(1)


def test_a_finer_grid_changes_the_fourth_digit_at_most():
    rule = FlippingRule(eta=0.1)
    for coarse, fine in zip(frontier(rule, size=2001), frontier(rule, size=8001), strict=True):
        assert coarse.accuracy == pytest.approx(fine.accuracy, abs=1e-4)


def test_between_two_points_lies_their_mixture():
    ends = [
        FrontierPoint(price=1, accuracy=0.9, edits=4, threshold=0.7),
        FrontierPoint(price=16, accuracy=0.5, edits=0, threshold=None),
    ]
    assert [accuracy_at(ends, edits) for edits in (0, 1, 4, 9)] == pytest.approx(
        [0.5, 0.6, 0.9, 0.9]
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: FlippingRule(eta=0.6), "eta must be from 0 to 0.5, got 0.6"),
        (lambda: FlippingRule(eta=math.nan), "eta"),
        (lambda: FlippingRule(eta=0.1, hazard=1.0), "hazard"),
        (lambda: FlippingRule(eta=0.1, steps=0), "steps"),
        (lambda: FlippingRule(eta=0.1, repair=2), "repair"),
        (lambda: frontier(FlippingRule(eta=0.1), prices=()), "at least one"),
        (lambda: frontier(FlippingRule(eta=0.1), prices=(-1.0,)), "prices"),
        (lambda: belief_moves(FlippingRule(eta=0.1), 1), "size"),
        (lambda: accuracy_at(frontier(FlippingRule(eta=0.1), prices=(1.0,)), 1), "fewer"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(ParameterError, match=said):
        call()
