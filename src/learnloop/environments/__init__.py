"""Streams of queries; the only place that knows an answer."""

from __future__ import annotations

from learnloop.protocols import Environment
from learnloop.registry import Registry

ENVIRONMENTS: Registry[Environment] = Registry(
    "environment",
    {
        "parity": "learnloop.environments.parity:Parity",
        "guess": "learnloop.environments.guess:Guess",
        "track": "learnloop.environments.track:Track",
        "spider": "learnloop.environments.spider:spider",
        "spider_published": "learnloop.environments.spider:spider_published",
        "cosql": "learnloop.environments.cosql:cosql",
        "cosql_published": "learnloop.environments.cosql:cosql_published",
        "bird": "learnloop.environments.bird:bird",
        "bird_published": "learnloop.environments.bird:bird_published",
        "hotpotqa": "learnloop.environments.hotpotqa:hotpotqa",
        "hotpotqa_published": "learnloop.environments.hotpotqa:hotpotqa_published",
        "ddxplus": "learnloop.environments.ddxplus:ddxplus",
        "ddxplus_published": "learnloop.environments.ddxplus:ddxplus_published",
        "ds1000": "learnloop.environments.ds1000:ds1000",
        "ds1000_published": "learnloop.environments.ds1000:ds1000_published",
        "house_rules": "learnloop.environments.house_rules.environment:HouseRules",
        "house_rules_drift": "learnloop.environments.house_rules.environment:house_rules_drift",
    },
    group="learnloop.environments",
)

PREPARATIONS: Registry[object] = Registry(
    "preparation",
    {
        "ds1000": "learnloop.environments.ds1000:run_references",
        "ds1000_published": "learnloop.environments.ds1000:run_references",
    },
)
"""What takes minutes the first time an environment is opened on a machine.

Each is a function of some of the environment's parameters, and of `progress`, which is told how
many are done, and of how many; never where there is nothing to do.
"""

PUBLISHED_SEED = 42
"""The seed of the published order of the benchmarks' streams."""

_BENCHMARKS = ("spider", "cosql", "bird", "hotpotqa", "ddxplus", "ds1000")


def default_seed(environment: str) -> int:
    """Return the seed of a run that names none: a benchmark's published one, else 0.

    Raises:
        UnknownNameError: There is no such environment.

    Examples:
        >>> default_seed("spider-published"), default_seed("house_rules")
        (42, 0)
    """
    name = ENVIRONMENTS.resolve(environment).removesuffix("_published")
    return PUBLISHED_SEED if name in _BENCHMARKS else 0


__all__ = ["ENVIRONMENTS", "PREPARATIONS", "PUBLISHED_SEED", "default_seed"]
