"""The best accuracy that any gate can reach for the edits it spends, by dynamic programming."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learnloop.errors import ParameterError
from learnloop.reports.belief_grid import (
    GRID_SIZE,
    BeliefMoves,
    Flags,
    FlippingRule,
    Numbers,
    belief_moves,
)

PRICES = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """What the best gate does where an edit costs as much as `price` stale steps.

    Attributes:
        price: Stale steps that an edit must save to be worth it.
        accuracy: Mean share of steps under a prompt that fits.
        edits: Mean number of edits in a run.
        threshold: Least belief in staleness at which an edit pays while the end is far; `None`
            where none pays.
    """

    price: float
    accuracy: float
    edits: float
    threshold: float | None


@functools.lru_cache(maxsize=64)
def frontier(
    rule: FlippingRule, *, prices: tuple[float, ...] = PRICES, size: int = GRID_SIZE
) -> tuple[FrontierPoint, ...]:
    """Return the least of E[stale steps] + price * E[edits] over all gates, one point a price.

    The gate knows noise, hazard and the chance that an edit succeeds; flips come at the hazard.
    Both expectations are computed, not sampled; the grid of beliefs is the only approximation.
    """
    if not prices or min(prices) < 0:
        raise ParameterError(f"prices must be numbers from 0, at least one, got {prices!r}")
    moves = belief_moves(rule, size)
    costs, edits_pay = _backward(moves, np.asarray(prices, dtype=float), rule.steps)
    return tuple(
        FrontierPoint(
            price=price,
            accuracy=1 - float(costs[0, 0, place]) / rule.steps,
            edits=float(costs[0, 1, place]),
            threshold=_least(moves.points, edits_pay[:, place]),
        )
        for place, price in enumerate(prices)
    )


def accuracy_at(points: Sequence[FrontierPoint], edits: float) -> float:
    """Return the best accuracy at a mean number of edits, by mixing the two nearest points.

    More edits than the largest of them do not help. Fewer than the smallest is refused.
    """
    by_edits = sorted(points, key=lambda point: point.edits)
    if not by_edits or edits < by_edits[0].edits:
        raise ParameterError(f"edits must not be fewer than those of all points, got {edits!r}")
    return float(np.interp(edits, [p.edits for p in by_edits], [p.accuracy for p in by_edits]))


def _backward(moves: BeliefMoves, prices: Numbers, steps: int) -> tuple[Numbers, Flags]:
    """Return costs to come by belief, kind (stale steps, edits) and price, and where edits pay."""
    size = len(moves.points)
    keep = np.zeros((size, 2, len(prices)))
    costs, edits_pay = keep, np.zeros((size, len(prices)), dtype=bool)
    for left in range(steps):
        if left:
            keep = (moves.expected @ costs.reshape(size, -1)).reshape(keep.shape)
            keep[:, 0] += moves.prior[:, None]
        edit = (moves.edited @ keep.reshape(size, -1)).reshape(keep.shape)
        edit[:, 1] += 1
        edits_pay = _total(edit, prices) < _total(keep, prices) - _TIE
        costs = np.where(edits_pay[:, None, :], edit, keep)
    return costs, edits_pay


def _total(costs: Numbers, prices: Numbers) -> Numbers:
    total: Numbers = costs[:, 0] + prices * costs[:, 1]
    return total


def _least(points: Numbers, pays: Flags) -> float | None:
    return float(points[int(np.argmax(pays))]) if pays.any() else None
