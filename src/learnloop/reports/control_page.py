"""All that a page says about one control task, worked out; and its charts as PNG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from learnloop.records.run_summary import RunSummary
from learnloop.reports.arm_marks import FRAME, shape_of
from learnloop.reports.charts import Spec, to_png
from learnloop.reports.control_comparison import PairedResult, choose_arm, compare_arms
from learnloop.reports.control_headline import control_sentence, control_title
from learnloop.reports.control_limits import Limits, make_limits
from learnloop.reports.control_panels import Panel, delay_panels, edit_panels, section_id
from learnloop.reports.control_sections import (
    REFERENCES,
    ControlSection,
    Level,
    from_record,
    make_control_sections,
    without_record,
)
from learnloop.reports.control_table import ControlRow, make_control_rows
from learnloop.reports.headline import Tile
from learnloop.reports.load import Run
from learnloop.reports.themes import THEMES, Stroke, Theme, strokes
from learnloop.reports.trajectories import Trajectory, choose_trajectories
from learnloop.reports.trajectory_chart import fill, template

KINDS = (False, True)
"""Whether the answers of a trajectory are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How some runs were made: what their records have in common, and how many they are."""

    model: str
    model_sha256: str
    packages: str
    machine: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlShown:
    """All that the page says about one control task."""

    id: str
    section: ControlSection
    arm: str | None
    title: str
    sentence: str
    tiles: list[Tile]
    rows: list[ControlRow]
    limits: Mapping[str, Limits]
    results: list[PairedResult]
    edits: list[Panel]
    delays: list[Panel]
    trajectories: list[Trajectory]
    legend: tuple[Stroke, ...]

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        return sum(map(len, self.section.runs.values()))

    @property
    def swatches(self) -> dict[str, Stroke]:
        """The strokes by label."""
        return {stroke.label: stroke for stroke in self.legend}

    @property
    def shapes(self) -> dict[str, str]:
        """The shapes of the points by label."""
        return {stroke.label: shape_of(stroke) for stroke in self.legend}

    def row(self, arm: str, level: Level) -> ControlRow | None:
        """Return what one arm came to at one level."""
        return next((r for r in self.rows if (r.arm, r.feedback) == (arm, level.feedback)), None)

    def rows_at(self, level: Level) -> list[ControlRow]:
        """Return what all arms came to at one level."""
        return [row for row in self.rows if row.feedback == level.feedback]

    @property
    def has_references(self) -> bool:
        """Whether an arm has a reference editor, which its label then names."""
        return any(word in label for label in self.section.labels for word in REFERENCES)

    def results_at(self, level: Level) -> list[PairedResult]:
        """Return the comparisons at one level."""
        return [one for one in self.results if one.feedback == level.feedback]

    @property
    def roles(self) -> list[str]:
        """The roles that models were called in."""
        return list(dict.fromkeys(role for row in self.rows for role in row.roles))

    @property
    def curve_names(self) -> list[tuple[str, str]]:
        """The limits that are drawn, each with the kind of its line."""
        curves = [curve for one in self.limits.values() for curve in one.curves]
        names = {curve.name: "solid" if curve.is_main else "dotted" for curve in curves}
        ceilings = {one.ceiling_name: "dashed" for one in self.limits.values() if one.ceiling_name}
        return [*names.items(), *ceilings.items()]

    @property
    def origins(self) -> list[Origin]:
        """How the runs were made, where the record says so."""
        infos = [
            run.record.info for runs in self.section.runs.values() for run in runs if run.record
        ]
        made = Counter(
            (
                info.model,
                info.model_sha256 or "not a file",
                ", ".join(f"{name} {version}" for name, version in info.packages.items()),
                ", ".join(f"{name} {value}" for name, value in info.machine.items()),
            )
            for info in infos
        )
        return [
            Origin(model=model, model_sha256=digest, packages=packages, machine=machine, runs=count)
            for (model, digest, packages, machine), count in made.items()
        ]

    @property
    def seeds(self) -> list[int]:
        """All seeds, ascending."""
        runs = self.section.runs.values()
        return sorted({run.summary.seed for members in runs for run in members})

    @property
    def models(self) -> list[str]:
        """The models that the specs name."""
        runs = self.section.runs.values()
        return list(dict.fromkeys(run.summary.model for members in runs for run in members))

    @property
    def lengths(self) -> list[int]:
        """The numbers of steps that runs have."""
        runs = self.section.runs.values()
        return sorted({run.summary.steps for members in runs for run in members})

    @property
    def reach(self) -> tuple[float, float]:
        """From where to where the intervals of the comparisons go, zero within."""
        ends = [end for one in self.results for end in _ends(one)]
        return min([0.0, *ends]), max([0.0, *ends])


def show_controls(runs: Iterable[Run], summaries: Iterable[RunSummary]) -> list[ControlShown]:
    """Work out what a page says about the runs of control tasks, task by task."""
    known = chain(map(from_record, runs), map(without_record, summaries))
    return [show_control(section) for section in make_control_sections(known)]


def show_control(section: ControlSection) -> ControlShown:
    """Work out what a page says about one control task."""
    limits = make_limits(section)
    rows = make_control_rows(section, limits=limits)
    arm = choose_arm(section, rows)
    results = compare_arms(section, arm) if arm is not None else []
    quiet = frozenset(one.label for one in section.arms if one.never_edits)
    legend = strokes(section.labels, baselines=quiet, leading=arm)
    return ControlShown(
        id=section_id(section),
        section=section,
        arm=arm,
        title=control_title(section, arm, results),
        sentence=control_sentence(section, arm, results),
        tiles=_tiles(section, arm, rows, limits),
        rows=rows,
        limits=limits,
        results=results,
        edits=edit_panels(section, rows, limits, legend=legend, arm=arm),
        delays=delay_panels(section, rows, legend=legend, arm=arm),
        trajectories=choose_trajectories(section, arm=arm),
        legend=legend,
    )


def templates() -> dict[str, dict[str, Spec]]:
    """Return the figure of one run without data, by kind and theme."""
    return {
        "number" if kind else "rule": {
            theme.name: template(theme, is_number=kind) for theme in THEMES
        }
        for kind in KINDS
    }


def draw_control_pngs(shown: ControlShown) -> dict[str, bytes]:
    """Return the charts of one control task as PNG, by file name, for light and for dark."""
    drawn = {}
    for theme in THEMES:
        for name, panels in (("edits", shown.edits), ("delay", shown.delays)):
            if panels:
                row = _side_by_side([(one.title, one.specs[theme.name]) for one in panels], theme)
                drawn[f"{shown.id}-{name}-{theme.name}.png"] = to_png(row, theme=theme)
        for run in shown.trajectories[:1]:
            spec = fill(template(theme, is_number=run.is_number), run)
            drawn[f"{shown.id}-trajectory-{theme.name}.png"] = to_png(spec, theme=theme)
    return drawn


def _side_by_side(panels: Sequence[tuple[str, Spec]], theme: Theme) -> Spec:
    """Return panels as one chart; colours and shapes stand for the same arms in each."""
    shared = {key: panels[0][1][key] for key in ("background", "config")}
    views = [
        {
            "layer": spec["layer"],
            "width": round(1.1 * FRAME.width),
            "height": FRAME.height,
            "title": {"text": words, "anchor": "start", "frame": "group", "color": theme.ink},
        }
        for words, spec in panels
    ]
    data: Spec = {}
    for _, spec in panels:
        data |= spec.get("datasets", {})
    separate = {"scale": {"color": "independent", "shape": "independent"}}
    return {"hconcat": views, "datasets": data, "resolve": separate, **shared}


def _tiles(
    section: ControlSection,
    arm: str | None,
    rows: Sequence[ControlRow],
    limits: Mapping[str, Limits],
) -> list[Tile]:
    metric = section.metric
    return [
        Tile(
            number=metric.show(row.mean),
            unit=metric.unit,
            label=f"{metric.name} at {level.title}",
            against=_against(section, row, rows, limits.get(level.feedback)),
        )
        for level in section.levels
        for row in rows
        if (row.arm, row.feedback) == (arm, level.feedback) and row.mean is not None
    ]


def _against(
    section: ControlSection, row: ControlRow, rows: Sequence[ControlRow], limits: Limits | None
) -> str:
    """Return what a number is to be held against: the best other arm, and the ceiling."""
    metric = section.metric
    others = [r for r in rows if r.feedback == row.feedback and r.arm != row.arm]
    rivals = [(metric.better(r.mean, 0.0), r) for r in others if r.mean is not None]
    words = []
    if rivals:
        best = max(rivals, key=lambda pair: pair[0])[1]
        words.append(f"best other: {best.arm} {metric.show(best.mean)}")
    if limits and limits.ceiling is not None:
        words.append(f"{limits.ceiling_name} {metric.show(limits.ceiling)}")
    return "; ".join(words)


def _ends(result: PairedResult) -> tuple[float, ...]:
    if result.interval is None:
        return (result.difference,)
    return (result.interval.low, result.interval.high, result.difference)
