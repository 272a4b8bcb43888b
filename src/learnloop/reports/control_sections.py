"""Sorts the runs of control tasks: a section a task, and in it an arm a way to edit the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from learnloop.records.run_summary import RunSummary, summarise_run
from learnloop.reports.control_metrics import METRICS, Metric
from learnloop.reports.groups import flatten, variant
from learnloop.reports.load import Run

OURS = "(ours)"
REFERENCES = ("majority", "obedient")
_PAPER = ("never", "fixed", "proportional", "integral", "derivative")
_LIBRARIES = ("textgrad", "gepa")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRun:
    """One run: its summary, and what only whole records have (`None` where there are none)."""

    summary: RunSummary
    seconds: float | None = None
    record: Run | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to edit the prompt. A reference editor is named in the label.

    Attributes:
        label: What tells it apart in its section.
        is_ours: Whether the study marks it as this project's own.
        never_edits: Whether its gate never opens.
        order: Where it stands among the others.
    """

    label: str
    is_ours: bool
    never_edits: bool
    order: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One kind of feedback, and what share of it is wrong."""

    feedback: str
    noise: float
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSection:
    """All runs of one control task with one set of parameters; `runs` by arm, then feedback."""

    environment: str
    task: str
    params: Mapping[str, object]
    metric: Metric
    arms: tuple[Arm, ...]
    levels: tuple[Level, ...]
    runs: Mapping[tuple[str, str], tuple[ControlRun, ...]]

    @property
    def title(self) -> str:
        """The environment with its parameters."""
        words = ", ".join(f"{name} {value}" for name, value in flatten(self.params).items())
        return f"{self.environment}, {words}" if words else self.environment

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the arms, in order."""
        return tuple(arm.label for arm in self.arms)

    def at(self, label: str, level: Level) -> tuple[ControlRun, ...]:
        """Return the runs of one arm at one level."""
        return self.runs.get((label, level.feedback), ())

    def finished(self, label: str, level: Level) -> tuple[ControlRun, ...]:
        """Return those that came to their end: only they are compared."""
        return tuple(run for run in self.at(label, level) if run.summary.complete)


def is_control(task: str) -> bool:
    """Whether a task is a control task."""
    return task in METRICS


def from_record(run: Run) -> ControlRun:
    """Return a run on record as a run of a control task."""
    timed = run.timings[: len(run.steps)]
    seconds = sum(timing.seconds for timing in timed) if timed else None
    return ControlRun(summary=summarise_run(run.info, run.steps), seconds=seconds, record=run)


def without_record(summary: RunSummary) -> ControlRun:
    """Return a run of which only a summary is left as a run of a control task."""
    return ControlRun(summary=summary)


def make_control_sections(runs: Iterable[ControlRun]) -> list[ControlSection]:
    """Sort runs into sections by task, and by arm and level of noise within."""
    gathered: dict[tuple[str, str], list[ControlRun]] = {}
    for run in runs:
        params = flatten(run.summary.spec.get("environment_params"))
        gathered.setdefault((run.summary.environment_id, str(params)), []).append(run)
    order = list(METRICS)
    sections = [_section(members) for members in gathered.values()]
    return sorted(sections, key=lambda one: (order.index(one.task), one.title))


def _section(runs: Sequence[ControlRun]) -> ControlSection:
    first = runs[0].summary
    namer = _Namer([run.summary for run in runs])
    sorted_runs: dict[tuple[str, str], list[ControlRun]] = {}
    arms: dict[str, Arm] = {}
    for run in runs:
        arm = namer.arm(run.summary)
        arms[arm.label] = arm
        sorted_runs.setdefault((arm.label, run.summary.feedback), []).append(run)
    params = first.spec.get("environment_params")
    return ControlSection(
        environment=first.environment_id,
        task=first.task,
        params=params if isinstance(params, Mapping) else {},
        metric=METRICS[first.task],
        arms=tuple(sorted(arms.values(), key=lambda arm: arm.order)),
        levels=_levels([run.summary for run in runs]),
        runs={
            key: tuple(sorted(members, key=lambda run: run.summary.seed))
            for key, members in sorted_runs.items()
        },
    )


def _levels(summaries: Iterable[RunSummary]) -> tuple[Level, ...]:
    noises = {one.feedback: one.noise for one in summaries}
    shared = [noise for noise in noises.values() if list(noises.values()).count(noise) > 1]
    return tuple(
        Level(
            feedback=feedback,
            noise=noise,
            title=f"η = {noise:g}" + (f" ({feedback})" if noise in shared else ""),
        )
        for feedback, noise in sorted(noises.items(), key=lambda item: (item[1], item[0]))
    )


class _Namer:
    """Names the arms of a section: label, reference editor, and what else tells two apart."""

    def __init__(self, summaries: Sequence[RunSummary]) -> None:
        values: dict[str, dict[str, set[str | None]]] = {}
        named: dict[str, list[dict[str, str]]] = {}
        for one in summaries:
            fields = variant(one.spec)
            same = named.setdefault(one.label, [])
            if fields not in same:
                same.append(fields)
        for label, variants in named.items():
            names = dict.fromkeys(name for fields in variants for name in fields)
            values[label] = {name: {v.get(name) for v in variants} for name in names}
        self._differing = {
            label: [name for name, seen in by_name.items() if len(seen) > 1]
            for label, by_name in values.items()
        }

    def arm(self, summary: RunSummary) -> Arm:
        """Return the arm that a run belongs to."""
        fields = variant(summary.spec)
        differing = self._differing[summary.label]
        words = [
            f"{name.removeprefix('method_params.')} {fields.get(name, 'default')}"
            for name in differing
            if name != _EDITOR
        ]
        editor = fields.get(_EDITOR, "rewriter")
        is_named = editor in REFERENCES or _EDITOR in differing
        if is_named and editor not in summary.label:
            words.append(editor)
        label = _with_words(summary.label, words)
        order = _order(summary, label)
        return Arm(
            label=label,
            is_ours=summary.label.endswith(OURS),
            never_edits=fields.get("method_params.gate") == _PAPER[0],
            order=order,
        )


def _with_words(label: str, words: Sequence[str]) -> str:
    """Return a label with more words in its brackets.

    Examples:
        >>> _with_words("P", ["majority"]), _with_words("Bayes (ours)", ["obedient"])
        ('P (majority)', 'Bayes (ours, obedient)')
    """
    if not words:
        return label
    more = ", ".join(words)
    return f"{label[:-1]}, {more})" if label.endswith(")") else f"{label} ({more})"


def _order(summary: RunSummary, label: str) -> tuple[object, ...]:
    """Return a place: the paper's gates, the libraries, all others, and ours last."""
    params = summary.spec.get("method_params")
    given = params if isinstance(params, Mapping) else {}
    gate, editor = str(given.get("gate", "")), str(given.get("editor", ""))
    last = len(_PAPER) + len(_LIBRARIES)
    if editor in _LIBRARIES:
        place = len(_PAPER) + _LIBRARIES.index(editor)
    else:
        place = _PAPER.index(gate) if gate in _PAPER else last
    return (summary.label.endswith(OURS), place, label)


_EDITOR = "method_params.editor"
