"""Whose turn it is among several answering models: in order, or by what each got right so far."""

from __future__ import annotations

from typing import Protocol

from learnloop.errors import ParameterError
from learnloop.seeding import stream


class Turns(Protocol):
    """Chooses which agent answers next. Choosing changes nothing; what is heard does."""

    def next(self) -> int:
        """Return the agent that answers the next query, from 0."""
        ...

    def pass_on(self) -> None:
        """There was feedback on one more query."""
        ...

    def learn(self, agent: int, *, right: bool) -> None:
        """Take in the verdict on one answer of an agent."""
        ...


class RoundRobin:
    """One after the other: the turn goes on with each query on which there was feedback.

    Args:
        agents: How many there are.
        first: Which one begins.

    Examples:
        >>> turns = RoundRobin(agents=2)
        >>> turns.next()
        0
        >>> turns.pass_on()
        >>> turns.next()
        1
    """

    def __init__(self, *, agents: int, first: int = 0) -> None:
        self.agents = agents
        self.first = first
        self._heard = 0

    def next(self) -> int:
        return (self.first + self._heard) % self.agents

    def pass_on(self) -> None:
        self._heard += 1

    def learn(self, agent: int, *, right: bool) -> None:
        """Learn nothing."""


class ThompsonSampling:
    """Draws each agent's accuracy from what is believed of it, and takes the best draw.

    The belief is a Beta distribution, uniform at first; a right answer adds 1 to alpha, a wrong
    one to beta. Where `remembered` is given, both are shrunk so that their sum never passes it,
    and what is long past counts less and less: dynamic Thompson sampling.

    Source: Gupta, Granmo and Agrawala 2011, "Thompson sampling for dynamic multi-armed bandits".

    Args:
        agents: How many there are.
        seed: Of the draws, which depend on it and on the number of queries heard of.
        remembered: The most that alpha and beta may sum to (as published: 100); `None` for no
            limit.

    Raises:
        ParameterError: `remembered` is less than the 2 that a belief begins with.
    """

    def __init__(self, *, agents: int, seed: int, remembered: int | None = None) -> None:
        if remembered is not None and remembered < UNIFORM:
            raise ParameterError(f"remembered is at least {UNIFORM}, got {remembered!r}")
        self.agents = agents
        self.seed = seed
        self.remembered = remembered
        self._alpha = [1.0] * agents
        self._beta = [1.0] * agents
        self._heard = 0

    def next(self) -> int:
        rng = stream(self.seed, f"turn {self._heard}")
        return int(rng.beta(self._alpha, self._beta).argmax())

    def pass_on(self) -> None:
        self._heard += 1

    def learn(self, agent: int, *, right: bool) -> None:
        self._alpha[agent] += right
        self._beta[agent] += not right
        total = self._alpha[agent] + self._beta[agent]
        if self.remembered is not None and total > self.remembered:
            self._alpha[agent] *= self.remembered / total
            self._beta[agent] *= self.remembered / total


UNIFORM = 2
"""What alpha and beta of a uniform belief sum to."""
