"""What an ideal observer of a rule that flips believes, on a grid: how its belief moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from learnloop.errors import ParameterError

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

GRID_SIZE = 4001


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippingRule:
    """A rule with two states that flips, seen through noise.

    Attributes:
        eta: How often an observed error is the opposite of the true one.
        hazard: Chance of a flip at each step after the first.
        steps: Length of a run; at the first step the rule is known.
        repair: Chance that an edit turns the prompt; 1 is an editor that obeys. Nobody is told
            whether it did.
    """

    eta: float
    hazard: float = 1 / 30
    steps: int = 120
    repair: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.eta <= 0.5:
            raise ParameterError(f"eta must be from 0 to 0.5, got {self.eta!r}")
        if not 0 <= self.hazard <= 0.5:
            raise ParameterError(f"hazard must be from 0 to 0.5, got {self.hazard!r}")
        if self.steps < 1:
            raise ParameterError(f"steps must be at least 1, got {self.steps!r}")
        if not 0 <= self.repair <= 1:
            raise ParameterError(f"repair must be from 0 to 1, got {self.repair!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefMoves:
    """The moves of the probability that the prompt is stale, between points of a grid.

    Row i of a matrix says where a belief of `points[i]` goes: in one step of drift and
    observation if the prompt is truly `healthy` or `stale` by then, on the whole (`expected`),
    and by an edit (`edited`). `prior` is the belief after the drift, before the observation.
    """

    points: Numbers
    prior: Numbers
    healthy: sparse.csr_array
    stale: sparse.csr_array
    expected: sparse.csr_array
    edited: sparse.csr_array


def belief_moves(rule: FlippingRule, size: int = GRID_SIZE) -> BeliefMoves:
    """Return how the belief about `rule` moves on `size` points from 0 to 1.

    A belief between two points is shared among them so that its mean is kept.
    """
    if size < 2:
        raise ParameterError(f"size must be at least 2, got {size!r}")
    points = np.linspace(0, 1, size)
    prior = points * (1 - rule.hazard) + (1 - points) * rule.hazard
    error = _onto_grid(_posterior(prior, stale=1 - rule.eta, healthy=rule.eta, impossible=1))
    agreement = _onto_grid(_posterior(prior, stale=rule.eta, healthy=1 - rule.eta, impossible=0))
    healthy = rule.eta * error + (1 - rule.eta) * agreement
    stale = (1 - rule.eta) * error + rule.eta * agreement
    return BeliefMoves(
        points=points,
        prior=prior,
        healthy=sparse.csr_array(healthy),
        stale=sparse.csr_array(stale),
        expected=sparse.csr_array(
            sparse.diags_array(prior) @ stale + sparse.diags_array(1 - prior) @ healthy
        ),
        edited=_onto_grid(rule.repair * (1 - points) + (1 - rule.repair) * points),
    )


def _posterior(prior: Numbers, *, stale: float, healthy: float, impossible: float) -> Numbers:
    """Return P(stale) after something seen at these rates; `impossible` where it cannot be seen."""
    joint = prior * stale
    seen = joint + (1 - prior) * healthy
    return np.divide(joint, seen, out=np.full_like(prior, impossible), where=seen > 0)


def _onto_grid(beliefs: Numbers) -> sparse.csr_array:
    size = len(beliefs)
    places = beliefs * (size - 1)
    low = np.clip(places.astype(int), 0, size - 2)
    share = places - low
    rows = np.arange(size)
    return sparse.csr_array(
        (
            np.concatenate([1 - share, share]),
            (np.concatenate([rows, rows]), np.concatenate([low, low + 1])),
        ),
        shape=(size, size),
    )
