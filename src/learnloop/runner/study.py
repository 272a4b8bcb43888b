"""A study file: a grid of runs written as TOML, and the runs that it stands for."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError, model_validator

from learnloop.environments import default_seed
from learnloop.errors import ConfigError
from learnloop.llm.absent import NO_MODEL
from learnloop.llm.endpoints import Endpoint
from learnloop.runner.spec import Params, RunSpec, Value, make_spec

_MODEL = ConfigDict(frozen=True, extra="forbid", strict=True)


class Entry(BaseModel):
    """A method or an environment of a grid. A parameter with a list of values is an axis."""

    model_config = _MODEL

    name: str
    label: str | None = None
    params: dict[str, Value | list[Value]] = Field(default_factory=dict)


class Limits(BaseModel):
    """What the whole study may spend."""

    model_config = _MODEL

    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None


class Grid(BaseModel):
    """Every method on every environment, with every kind of feedback and every seed.

    Attributes:
        seeds: Each a number; `None`, where the file names none, is the environment's default.
        policy_models: Names of the models that write policies and edits, each with every model; a
            model that is its own is written by its name. Where there is none, each is its own.
        agents: Models that answer beside each of `models`, for methods of several agents.
        keep: What a run leaves: a directory with its `steps`, or, where thousands are made without
            a model, one line of `summaries`.
        keep_steps_for: Of how many seeds, the first ones, the steps are kept beside the summaries.
    """

    model_config = _MODEL

    methods: list[Entry]
    environments: list[Entry]
    feedback: list[str] = Field(default_factory=lambda: ["binary"])
    seeds: list[int | None] = Field(default=[None], min_length=1)
    models: list[str] = Field(default_factory=lambda: ["local"])
    policy_models: list[str] = Field(default_factory=list)
    agents: list[str] = Field(default_factory=list)
    steps: int | None = None
    embedder: str = "wordllama"
    keep: Literal["steps", "summaries"] = "steps"
    keep_steps_for: NonNegativeInt = 1

    @model_validator(mode="after")
    def _check_keep(self) -> Self:
        models = {*self.models, *self.policy_models, *self.agents}
        if self.keep == "summaries" and models != {NO_MODEL}:
            raise ValueError(
                f"keep = 'summaries' is for runs without a model; set model = {NO_MODEL!r}"
            )
        return self


class Study(BaseModel):
    """What a study file says: its name, its limits, and its grids, in the order of the file.

    `endpoints` are servers that its models are at, by the name that goes before theirs; a name
    must stand for the same server as long as the study's records are kept.
    """

    model_config = _MODEL

    name: str
    limits: Limits
    grids: list[Grid]
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)


def read_study(path: Path) -> Study:
    """Read a study file.

    What stands at the top of the file holds for every `[[grid]]` that does not say otherwise; a
    file without one is a grid itself. A method or an environment may be given by its name alone.
    `[endpoints.NAME]` says where the models `NAME/…` are.

    Raises:
        ConfigError: The file is not there, or is not a study; the message names the field.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read study file {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"study file {str(path)!r} is not valid TOML: {error}") from error
    limits = content.pop("limits", {})
    endpoints = content.pop("endpoints", {})
    name = content.pop("name", path.stem)
    overrides = content.pop("grid", [{}])
    if not isinstance(overrides, list) or not all(isinstance(one, dict) for one in overrides):
        raise ConfigError(f"study file {str(path)!r}: write each grid as a [[grid]] table")
    grids = [_with_entries(content) | _with_entries(one) for one in overrides]
    try:
        return Study.model_validate(
            {"name": name, "limits": limits, "grids": grids, "endpoints": endpoints}
        )
    except ValidationError as error:
        raise ConfigError(f"study file {str(path)!r}: {_explain(error)}") from error


def expand(study: Study) -> tuple[RunSpec, ...]:
    """Return the runs whose steps are kept, each once, the first seed of every grid first.

    Raises:
        ParameterError: A run would have a field out of range.
        UnknownNameError: No seed is named, and there is no such environment to have a default.
    """
    placed = [
        (place, spec)
        for grid in study.grids
        for place, spec in _expand_grid(grid)
        if grid.keep == "steps" or place < grid.keep_steps_for
    ]
    return _distinct(spec for _, spec in sorted(placed, key=lambda one: one[0]))


def expand_summaries(study: Study) -> tuple[RunSpec, ...]:
    """Return the runs that leave a line of the summaries, in the same order.

    Raises:
        ParameterError: A run would have a field out of range.
        UnknownNameError: No seed is named, and there is no such environment to have a default.
    """
    grids = (grid for grid in study.grids if grid.keep == "summaries")
    return _distinct(spec for grid in grids for _, spec in _expand_grid(grid))


def _distinct(specs: Iterable[RunSpec]) -> tuple[RunSpec, ...]:
    return tuple({spec.hash: spec for spec in specs}.values())


def _expand_grid(grid: Grid) -> Iterator[tuple[int, RunSpec]]:
    """Return each run, with the place of its seed among those of the grid."""
    axes = itertools.product(
        enumerate(grid.seeds),
        _pairs(grid),
        _settled(grid.environments),
        grid.feedback,
        _settled(grid.methods),
    )
    for (place, seed), (model, policy_model), environment, feedback, method in axes:
        spec = make_spec(
            environment=environment.name,
            environment_params=environment.params,
            method=method.name,
            method_params=method.params,
            model=model,
            policy_model=policy_model,
            agents=grid.agents,
            steps=grid.steps,
            seed=default_seed(environment.name) if seed is None else seed,
            feedback=feedback,
            embedder=grid.embedder,
            label=method.label,
        )
        yield place, spec


def _pairs(grid: Grid) -> list[tuple[str, str | None]]:
    """Return each model with each that writes for it; `None` where that is the model itself."""
    return [
        (model, None if writer == model else writer)
        for model in grid.models
        for writer in grid.policy_models or [model]
    ]


def _settled(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries with one value a parameter: one for each combination."""
    return [
        Entry(name=entry.name, label=_label(entry, params), params={**params})
        for entry in entries
        for params in _combinations(entry)
    ]


def _combinations(entry: Entry) -> Iterator[Params]:
    axes = [value if isinstance(value, list) else [value] for value in entry.params.values()]
    for values in itertools.product(*axes):
        yield dict(zip(entry.params, values, strict=True))


def _label(entry: Entry, params: Params) -> str | None:
    """Tell apart the combinations of a labelled entry by the parameters that vary."""
    varied = [name for name, value in entry.params.items() if isinstance(value, list)]
    if entry.label is None or not varied:
        return entry.label
    return " ".join([entry.label, *(f"{name}={params[name]}" for name in varied)])


def _with_entries(grid: dict[str, Any]) -> dict[str, Any]:
    """Let `model`, a single value for a list, and a bare name for an entry be written short."""
    grid = {_PLURALS.get(name, name): value for name, value in grid.items()}
    for name in ("methods", "environments", "feedback", "seeds", *_PLURALS.values()):
        if name in grid and not isinstance(grid[name], list):
            grid[name] = [grid[name]]
    if "seeds" in grid:
        grid["seeds"] = [seed for given in grid["seeds"] for seed in _seeds(given)]
    for name in ("methods", "environments"):
        if name in grid:
            grid[name] = [{"name": one} if isinstance(one, str) else one for one in grid[name]]
    return grid


def _seeds(given: object) -> Iterable[object]:
    """Read `"1-200"` as the seeds from 1 to 200; anything else is for the check to judge."""
    ends = _RANGE.fullmatch(given) if isinstance(given, str) else None
    return (given,) if ends is None else range(int(ends[1]), int(ends[2]) + 1)


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    given = first["input"]
    got = "" if isinstance(given, dict | list) else f", got {given!r}"
    return f"{where}: {first['msg'].lower()}{got}"


_PLURALS = {"model": "models", "policy_model": "policy_models", "agent": "agents"}

_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
"""From one seed to another; a range that runs backwards is empty."""
