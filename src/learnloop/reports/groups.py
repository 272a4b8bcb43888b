"""Sorts runs into sections (one environment) and groups (runs that only seeds tell apart)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from learnloop.reports.load import Run

BASELINES = ("zero_shot", "no_edit", "self_stream_icl")
UPPER_BOUNDS = ("oracle",)
"""Methods that are given the answers: shown, never the best, never compared."""
_NOT_IN_LABEL = {"environment", "environment_params", "steps", "seed", "feedback", "label"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs whose specs differ in seed and length only. `label` tells it apart in its section."""

    label: str
    method: str
    feedback: str
    runs: tuple[Run, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({run.seed for run in self.runs}))

    @property
    def models(self) -> frozenset[str]:
        """The models that answered."""
        return frozenset(run.info.model for run in self.runs)

    @property
    def is_baseline(self) -> bool:
        """Whether the method is one that others are measured against."""
        return self.method in BASELINES


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All groups on one environment with one set of parameters: what may be compared."""

    environment: str
    parameters: str
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """The environment with its parameters."""
        return f"{self.environment}, {self.parameters}" if self.parameters else self.environment

    @property
    def feedbacks(self) -> tuple[str, ...]:
        """The feedback modes, in the order in which they were found."""
        return tuple(dict.fromkeys(group.feedback for group in self.groups))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, baselines first; a method keeps its place and colour in every chart."""
        return tuple(dict.fromkeys(group.label for group in self.groups))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of all groups."""
        return tuple(run for group in self.groups for run in group.runs)

    def leading_with(self, feedback: str) -> Section:
        """Return the section with the groups of one feedback mode before the others."""
        ordered = sorted(self.groups, key=lambda group: group.feedback != feedback)
        return replace(self, groups=tuple(ordered))

    def length(self, feedback: str) -> int:
        """Number of steps of the longest run with one feedback mode."""
        groups = [group for group in self.groups if group.feedback == feedback]
        return max((len(run.steps) for group in groups for run in group.runs), default=0)

    def baseline_of(self, group: Group) -> Group | None:
        """Return what a group is measured against: zero_shot where present.

        It has the same model. A baseline with the same feedback comes first; zero_shot learns
        nothing, so its run with other feedback serves as well. `None` for a baseline itself, for a
        method that is given the answers, and where there is none.
        """
        if group.method in UPPER_BOUNDS:
            return None
        for name in BASELINES:
            if name == group.method:
                return None
            same_model = [other for other in self.groups if other.models & group.models]
            there = [other for other in same_model if other.method == name]
            same = [other for other in there if other.feedback == group.feedback]
            if same or (there and name == "zero_shot"):
                return (same or there)[0]
        return None


def make_sections(runs: Sequence[Run]) -> list[Section]:
    """Sort runs into sections, and each section's runs into groups."""
    return [
        Section(environment=environment, parameters=parameters, groups=_groups(members))
        for (environment, parameters), members in _gather(runs).items()
    ]


def _gather(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    sections: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        parameters = run.info.spec.get("environment_params")
        key = (run.info.environment_id, _phrase(flatten(parameters)))
        sections.setdefault(key, []).append(run)
    return sections


def _groups(runs: Sequence[Run]) -> tuple[Group, ...]:
    gathered: dict[tuple[str, str], list[Run]] = {}
    labels = {run.folder: _label(run, _differing(runs, run)) for run in runs}
    for run in runs:
        gathered.setdefault((labels[run.folder], run.feedback), []).append(run)
    groups = [
        Group(
            label=label,
            method=members[0].info.method,
            feedback=feedback,
            runs=tuple(sorted(members, key=lambda run: run.seed)),
        )
        for (label, feedback), members in gathered.items()
    ]
    return tuple(sorted(groups, key=_place))


def _place(group: Group) -> tuple[int, str, str]:
    rank = BASELINES.index(group.method) if group.is_baseline else len(BASELINES)
    return rank, group.label, group.feedback


def _differing(runs: Sequence[Run], run: Run) -> list[str]:
    """Return the fields in which the runs of one name differ, apart from seed and length."""
    fields = [_variant(other) for other in runs if _name(other) == _name(run)]
    names = dict.fromkeys(name for one in fields for name in one)
    return [name for name in names if len({one.get(name) for one in fields}) > 1]


def _label(run: Run, names: Sequence[str]) -> str:
    variant = _variant(run)
    shown = {name.removeprefix("method_params."): variant.get(name, "default") for name in names}
    if len(shown) == 1 and (word := next(iter(shown.values()))).isidentifier():
        return f"{_name(run)} ({word})"
    return f"{_name(run)} ({_phrase(shown)})" if shown else _name(run)


def _name(run: Run) -> str:
    """Return what the spec says that reports call the method, or the method's own name."""
    return str(run.info.spec.get("label") or run.info.method)


def _variant(run: Run) -> dict[str, str]:
    return variant(run.info.spec)


def variant(spec: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of a spec that may tell two methods of one name apart."""
    return {
        name: value
        for name, value in flatten(spec).items()
        if name.partition(".")[0] not in _NOT_IN_LABEL
    }


def flatten(value: object, name: str = "") -> dict[str, str]:
    """Return nested mappings as one level with dotted names, values as text, without `None`.

    Examples:
        >>> flatten({"k": 4, "writer": {"name": "rules"}, "steps": None})
        {'k': '4', 'writer.name': 'rules'}
    """
    if isinstance(value, Mapping):
        return {
            key: text
            for inner, item in value.items()
            for key, text in flatten(item, f"{name}.{inner}".lstrip(".")).items()
        }
    return {name: str(value)} if name and value is not None else {}


def _phrase(fields: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields.items())
