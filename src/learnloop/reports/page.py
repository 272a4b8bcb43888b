"""Draws a report: one self-contained HTML page and its charts as PNG, from runs already read."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from learnloop.errors import RecordError
from learnloop.reports import wording
from learnloop.reports.charts import Spec, curve_chart, gain_chart, to_png, to_spec
from learnloop.reports.comparisons import Comparison, compare
from learnloop.reports.control_limits import IN_WORDS
from learnloop.reports.control_markdown import show_interval, signed
from learnloop.reports.control_page import ControlShown, draw_control_pngs, show_controls, templates
from learnloop.reports.control_sections import REFERENCES, is_control
from learnloop.reports.control_table import ControlRow
from learnloop.reports.curves import CurvePoint, cumulative_curves, rolling_curves, window_for
from learnloop.reports.editor_alone import EditorAlone, heat_maps, noise_maps
from learnloop.reports.groups import Section, make_sections
from learnloop.reports.headline import Tile, caution, lead, measured, sentence, tiles, title
from learnloop.reports.load import Material, Run
from learnloop.reports.memory_use import NOT_CITED
from learnloop.reports.policies import PolicySummary, summarise_policies
from learnloop.reports.row_notes import own_notes, row_notes, say_notes
from learnloop.reports.run_pages import RunShown, show_runs
from learnloop.reports.sameness import Sameness
from learnloop.reports.study_page import StudyShown, show_size, show_study
from learnloop.reports.tables import TableRow, make_table
from learnloop.reports.themes import THEMES, Stroke, strokes

PAGE = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The learning curves under one feedback mode; `specs` by kind of curve, then by theme."""

    id: str
    feedback: str
    length: int
    window: int
    seeds: int
    description: str
    specs: dict[str, dict[str, Spec]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionShown:
    """All that the page says about one environment."""

    id: str
    section: Section
    title: str
    sentence: str
    caution: str
    measured: str
    tiles: list[Tile]
    legend: tuple[Stroke, ...]
    figures: list[Figure]
    comparisons: list[Comparison]
    rows: list[TableRow]
    policies: list[PolicySummary]
    runs: list[RunShown]

    @property
    def is_sure(self) -> bool:
        """Whether the headline's gain is one that chance does not explain."""
        return bool(self.comparisons) and lead(self.comparisons).is_significant

    @property
    def subsets(self) -> str:
        """What the records note of rows and methods, and what that means; `""` if nothing."""
        shared = row_notes(self.section.runs)
        own = [
            f"{group.label}: {note}"
            for group in self.section.groups
            for run in group.runs
            for note in own_notes(run, shared)
        ]
        return say_notes([*shared, *dict.fromkeys(own)])

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        return len(self.runs)

    @property
    def swatches(self) -> dict[str, Stroke]:
        """The strokes by label."""
        return {stroke.label: stroke for stroke in self.legend}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a page shows: streams of data, control tasks, and editors measured alone."""

    sections: list[SectionShown]
    control: list[ControlShown]
    editors: tuple[EditorAlone, ...] = ()
    study: StudyShown | None = None

    @property
    def rows(self) -> list[TableRow | ControlRow]:
        """The rows of all tables."""
        rows: list[TableRow | ControlRow] = [row for one in self.sections for row in one.rows]
        return [*rows, *(row for one in self.control for row in one.rows)]

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        streams = sum(one.run_count for one in self.sections)
        return streams + sum(one.run_count for one in self.control)


def sort_out(material: Material, *, same: Sameness | None = None) -> Content:
    """Work out all that a page says about what was read.

    `same` tells bullets of policies that say the same; without it words are compared.
    """
    streams = [run for run in material.runs if not is_control(run.info.task)]
    control = [run for run in material.runs if is_control(run.info.task)]
    summaries = [one for one in material.summaries if is_control(one.task)]
    return Content(
        sections=[show_section(section) for section in make_sections(streams)],
        control=show_controls(control, summaries),
        editors=material.editors,
        study=show_study(streams, same=same),
    )


def write_report(runs: Sequence[Run], *, out: Path, command: str) -> Path:
    """Write the report of runs that were read; see `write_page`."""
    return write_page(sort_out(Material(runs=tuple(runs))), out=out, command=command)


def write_page(content: Content, *, out: Path, command: str) -> Path:
    """Write the page and the PNGs into a folder, made if need be, and return the page's path.

    Args:
        content: What to show.
        out: Folder to write into; files of the same names are replaced.
        command: The command that asked for the report, for the footer.

    Raises:
        RecordError: The folder cannot be written.
    """
    shown = content.sections
    page = render_content(content, command=command)
    written = {PAGE: page.encode()}
    for one in shown:
        alone = len(shown) == 1 and not content.control
        written |= draw_pngs(one, prefix="" if alone else f"{one.id}-")
    for task in content.control:
        written |= draw_control_pngs(task)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, data in written.items():
            (out / name).write_bytes(data)
    except OSError as error:
        raise RecordError(
            f"cannot write the report in {str(out)!r}: {error.strerror}; give another --out"
        ) from error
    return out / PAGE


def show_section(section: Section) -> SectionShown:
    """Work out all that the page says about one environment, the leading method first."""
    comparisons = compare(section)
    best = lead(comparisons) if comparisons else None
    leading = (best.method, best.feedback) if best else None
    if best:
        section = section.leading_with(best.feedback)
    rows = make_table([section])
    baselines = frozenset(group.label for group in section.groups if group.is_baseline)
    legend = strokes(section.labels, baselines=baselines, leading=best.method if best else None)
    first = section.length(best.feedback) // 2 + 1 if best else 1
    return SectionShown(
        id=_slug(section.title),
        section=section,
        title=title(section, comparisons, rows),
        sentence=sentence(best, first=first) if best else "",
        caution=caution(best, rows) if best else "",
        measured=measured(section),
        tiles=tiles(comparisons, rows),
        legend=legend,
        figures=[_figure(section, name, legend) for name in section.feedbacks],
        comparisons=comparisons,
        rows=rows,
        policies=sorted(summarise_policies(section), key=lambda one: one.key != leading),
        runs=show_runs(section, leading=leading),
    )


def render(
    sections: Sequence[SectionShown], *, command: str, control: Sequence[ControlShown] = ()
) -> str:
    """Return the page of some environments, each for itself; see `render_content`."""
    content = Content(sections=list(sections), control=list(control))
    return render_content(content, command=command)


def render_content(content: Content, *, command: str) -> str:
    """Return the page. Whatever a model wrote is escaped, in the markup and in the data."""
    study = content.study if content.study and len(content.study.grid.methods) > 1 else None
    scripts = [_vega()]
    scripts += [_asset("page.js")] if content.sections else []
    scripts += [_asset("study.js")] if study else []
    scripts += [_asset("control.js")] if content.control else []
    style = _asset("page.css")
    style += _asset("control.css") if content.control or content.editors or study else ""
    style += _asset("study.css") if study else ""
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            sections=content.sections,
            control=content.control,
            editors=content.editors,
            study=study,
            command=command,
            policy=_content_policy(scripts),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            data={
                name: htmlsafe_json_dumps(value) for name, value in _data(content, study).items()
            },
        )
    )


def _data(content: Content, study: StudyShown | None) -> dict[str, object]:
    """Return what the scripts of the page read, by the id of its element."""
    data: dict[str, object] = {}
    if content.sections:
        data["charts-data"] = {f.id: f.specs for one in content.sections for f in one.figures}
        data["runs-data"] = [asdict(run) for one in content.sections for run in one.runs]
    if study:
        data["scores-data"] = {panel.id: panel.specs for panel in study.panels}
    if content.control:
        panels = [panel for one in content.control for panel in (*one.edits, *one.delays)]
        data["panels-data"] = {panel.id: panel.specs for panel in panels}
        data["trajectories-data"] = {
            one.id: [asdict(run) for run in one.trajectories] for one in content.control
        }
        data["trajectory-figures"] = templates()
    return data


def draw_pngs(shown: SectionShown, *, prefix: str = "") -> dict[str, bytes]:
    """Return the section's charts as PNG, by file name, for light and for dark."""
    drawn = {}
    for theme in THEMES:
        for figure in shown.figures:
            spec = figure.specs["rolling"][theme.name]
            spec = {k: v for k, v in spec.items() if k != "autosize"} | {"width": 860}
            drawn[f"{prefix}curves-{_slug(figure.feedback)}-{theme.name}.png"] = to_png(
                spec, theme=theme
            )
        if shown.comparisons:
            chart = gain_chart(shown.comparisons, strokes=shown.legend, theme=theme)
            height = 44 * len(shown.comparisons)
            gains = to_spec(chart, theme=theme, width=620, height=height)
            drawn[f"{prefix}gains-{theme.name}.png"] = to_png(gains, theme=theme)
    return drawn


def _figure(section: Section, feedback: str, legend: tuple[Stroke, ...]) -> Figure:
    length = section.length(feedback)
    window = window_for(length)
    kinds = {
        "rolling": rolling_curves(section, feedback, window=window),
        "cumulative": cumulative_curves(section, feedback),
    }
    return Figure(
        id=f"{_slug(section.title)}-{_slug(feedback)}",
        feedback=feedback,
        length=length,
        window=window,
        seeds=max((point.seeds for point in kinds["cumulative"]), default=0),
        description=_describe(kinds["rolling"], window),
        specs={kind: _themed(points, legend, length) for kind, points in kinds.items()},
    )


def _themed(
    points: Sequence[CurvePoint], legend: tuple[Stroke, ...], length: int
) -> dict[str, Spec]:
    return {
        theme.name: to_spec(
            curve_chart(points, strokes=legend, theme=theme, length=length),
            theme=theme,
            width="container",
            height=340,
        )
        for theme in THEMES
    }


def _describe(points: Sequence[CurvePoint], window: int) -> str:
    """Return the curves in words, for those who do not see them."""
    last = {point.label: point for point in points}
    ends = [f"{label} ends at {wording.percent(point.mean)}" for label, point in last.items()]
    return f"Accuracy over the last {window} steps: {'; '.join(ends) or 'no steps yet'}."


@cache
def _asset(name: str) -> str:
    return files("learnloop.reports").joinpath(name).read_text("utf-8")


@cache
def _vega() -> str:
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("learnloop.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "say": wording,
        "interval": show_interval,
        "signed": signed,
        "heat_maps": heat_maps,
        "not_cited": NOT_CITED,
        "show_size": show_size,
        "noise_maps": noise_maps,
        "references": REFERENCES,
        "limits_in_words": IN_WORDS,
    }
    return environment


def _content_policy(scripts: Sequence[str]) -> str:
    """Return a content security policy under which only our scripts run, and nothing loads."""
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src {hashes} 'unsafe-eval'; base-uri 'none'; form-action 'none'"
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "any"
