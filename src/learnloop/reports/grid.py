"""Sorts the runs of a study into a grid: methods, by benchmarks, by models; orders by seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from learnloop.reports.groups import UPPER_BOUNDS, flatten, variant
from learnloop.reports.load import Run
from learnloop.reports.row_notes import row_notes

ORDER = (
    "zero_shot",
    "no_edit",
    "few_shot",
    "chain_of_thought",
    "self_refine",
    "grow_prompt",
    "mem_prompt",
    "self_stream_icl",
    "mam_stream_icl",
    "dynamic_cheatsheet",
)
"""Baselines, in the order in which tables show them; other methods follow by name."""
REFERENCES = ("zero_shot", "self_stream_icl")
"""The methods that others are measured against."""
_VERSION = "-v"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One environment with one set of parameters and one kind of feedback: a column.

    `notes` are what the records say of its rows: that they are a subset, for example.
    """

    environment: str
    parameters: str
    feedback: str
    title: str
    metric: str
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the benchmark without edition and version."""
        return self.environment.rpartition(_VERSION)[0].removesuffix("_published")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The runs of one method in one configuration (a benchmark and a model), one an order."""

    method: str
    benchmark: Benchmark
    model: str
    runs: tuple[Run, ...]

    @property
    def configuration(self) -> str:
        """The configuration in words."""
        return f"{self.benchmark.title}, {self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All cells that have runs. `kinds` gives the registered name of each labelled method."""

    methods: tuple[str, ...]
    kinds: Mapping[str, str]
    benchmarks: tuple[Benchmark, ...]
    models: tuple[str, ...]
    cells: Mapping[tuple[str, Benchmark, str], Cell]

    @property
    def configurations(self) -> tuple[tuple[Benchmark, str], ...]:
        """Every benchmark with every model that it has runs of."""
        there = {(benchmark, model) for _, benchmark, model in self.cells}
        pairs = [(one, model) for one in self.benchmarks for model in self.models]
        return tuple(pair for pair in pairs if pair in there)

    @property
    def compared(self) -> tuple[str, ...]:
        """The methods without those that are given the answers."""
        return tuple(one for one in self.methods if self.kinds[one] not in UPPER_BOUNDS)

    @property
    def references(self) -> tuple[str, ...]:
        """The labels of the methods that others are measured against."""
        found = [[m for m in self.methods if self.kinds[m] == kind][:1] for kind in REFERENCES]
        return tuple(label for labels in found for label in labels)

    def at(self, method: str, benchmark: Benchmark, model: str) -> Cell | None:
        """Return a cell, `None` where it has no runs."""
        return self.cells.get((method, benchmark, model))

    def of(self, benchmark: Benchmark, model: str) -> list[Cell]:
        """Return the cells of one configuration, in the order of the methods."""
        found = [self.at(method, benchmark, model) for method in self.methods]
        return [cell for cell in found if cell is not None]


def make_grid(runs: Sequence[Run]) -> Grid:
    """Sort runs into cells. Of two runs with the same seed the longer one counts."""
    benchmarks = _benchmarks(runs)
    labels = _Labels(runs)
    gathered: dict[tuple[str, Benchmark, str], dict[int, Run]] = {}
    kinds: dict[str, str] = {}
    for run in sorted(runs, key=lambda one: len(one.steps)):
        label = labels.of(run)
        kinds[label] = run.info.method
        key = (label, benchmarks[_column(run)], run.info.model)
        gathered.setdefault(key, {})[run.seed] = run
    cells = {
        key: Cell(
            method=key[0],
            benchmark=key[1],
            model=key[2],
            runs=tuple(by_seed[seed] for seed in sorted(by_seed)),
        )
        for key, by_seed in gathered.items()
    }
    return Grid(
        methods=tuple(sorted(kinds, key=lambda label: _place(label, kinds[label]))),
        kinds=kinds,
        benchmarks=tuple(benchmarks.values()),
        models=tuple(sorted({run.info.model for run in runs})),
        cells=cells,
    )


def _column(run: Run) -> tuple[str, str, str]:
    words = flatten(run.info.spec.get("environment_params")).items()
    phrase = ", ".join(f"{name} {value}" for name, value in words)
    return run.info.environment_id, phrase, run.feedback


def _benchmarks(runs: Sequence[Run]) -> dict[tuple[str, str, str], Benchmark]:
    columns: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        columns.setdefault(_column(run), []).append(run)
    several = len({feedback for _, _, feedback in columns}) > 1
    return {
        key: _benchmark(key, members, several=several) for key, members in sorted(columns.items())
    }


def _benchmark(key: tuple[str, str, str], runs: Sequence[Run], *, several: bool) -> Benchmark:
    environment, parameters, feedback = key
    words = [environment, parameters, f"feedback {feedback}" if several and feedback else ""]
    return Benchmark(
        environment=environment,
        parameters=parameters,
        feedback=feedback,
        title=", ".join(filter(None, words)),
        metric=runs[0].info.metric,
        notes=row_notes(runs),
    )


def _place(label: str, kind: str) -> tuple[int, str]:
    if kind in UPPER_BOUNDS:
        return len(ORDER) + 1, label
    return (ORDER.index(kind) if kind in ORDER else len(ORDER)), label


class _Labels:
    """Names methods: what differs within a configuration is said, and in all others too.

    A parameter that differs between benchmarks alone (fewer examples where contexts are long) is
    part of the setting and not of the name.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        there: dict[str, dict[tuple[object, ...], list[dict[str, str]]]] = {}
        for run in runs:
            places = there.setdefault(_name(run), {})
            places.setdefault((_column(run), run.info.model), []).append(_fields(run))
        self._differing = {
            name: list(
                dict.fromkeys(field for each in places.values() for field in _differing(each))
            )
            for name, places in there.items()
        }

    def of(self, run: Run) -> str:
        """Return the label of a run's method."""
        fields = _fields(run)
        shown = {
            name.removeprefix("method_params."): fields.get(name, "default")
            for name in self._differing[_name(run)]
        }
        if not shown:
            return _name(run)
        if len(shown) == 1 and (word := next(iter(shown.values()))).isidentifier():
            return f"{_name(run)} ({word})"
        return f"{_name(run)} ({', '.join(f'{name} {value}' for name, value in shown.items())})"


def _differing(fields: Sequence[Mapping[str, str]]) -> list[str]:
    names = dict.fromkeys(name for one in fields for name in one)
    return [name for name in names if len({one.get(name) for one in fields}) > 1]


def _name(run: Run) -> str:
    return str(run.info.spec.get("label") or run.info.method)


def _fields(run: Run) -> dict[str, str]:
    return {name: value for name, value in variant(run.info.spec).items() if name != "model"}
