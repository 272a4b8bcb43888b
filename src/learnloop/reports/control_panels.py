"""The panels of a control task: a row of charts, one a level of noise, each with its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from learnloop.reports.arm_marks import Pens
from learnloop.reports.charts import Spec
from learnloop.reports.control_charts import (
    delay_chart,
    delay_extent,
    edits_chart,
    edits_extent,
    panel,
)
from learnloop.reports.control_limits import Limits
from learnloop.reports.control_sections import ControlSection
from learnloop.reports.control_table import ControlRow
from learnloop.reports.themes import THEMES, Stroke


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel of a row of charts, at one level of noise; `specs` by theme."""

    id: str
    title: str
    words: str
    specs: Mapping[str, Spec]


def section_id(section: ControlSection) -> str:
    """Return the name of a section in addresses and files."""
    return re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")


def edit_panels(
    section: ControlSection,
    rows: Sequence[ControlRow],
    limits: Mapping[str, Limits],
    *,
    legend: tuple[Stroke, ...],
    arm: str | None,
) -> list[Panel]:
    """Return what was reached against edits, every level on the same axes."""
    extent = edits_extent(rows, list(limits.values()), section.metric)
    panels = []
    for place, level in enumerate(section.levels):
        there = [row for row in rows if row.feedback == level.feedback and row.mean is not None]
        specs = {
            theme.name: panel(
                edits_chart(
                    there,
                    limits=limits.get(level.feedback),
                    metric=section.metric,
                    extent=extent,
                    pens=Pens(legend, theme, arm),
                ),
                theme=theme,
            )
            for theme in THEMES
        }
        words = [
            f"{row.arm} {section.metric.show(row.mean)}{section.metric.unit} with "
            f"{row.changes_of_prompt:.1f} changes"
            for row in there
        ]
        said = f"{section.metric.name} at {level.title}: {'; '.join(words) or 'no finished run'}."
        panels.append(
            Panel(
                id=f"{section_id(section)}-edits-{place}",
                title=level.title,
                words=said,
                specs=specs,
            )
        )
    return panels


def delay_panels(
    section: ControlSection,
    rows: Sequence[ControlRow],
    *,
    legend: tuple[Stroke, ...],
    arm: str | None,
) -> list[Panel]:
    """Return delay against run length for a rule that flips, where feedback is noisy at all."""
    if section.task != "parity":
        return []
    panels = []
    extent = delay_extent(rows)
    for place, level in enumerate(section.levels):
        there = [row for row in rows if row.feedback == level.feedback and row.delay is not None]
        if not there or not 0 < level.noise < 0.5:
            continue
        specs = {
            theme.name: panel(
                delay_chart(there, noise=level.noise, extent=extent, pens=Pens(legend, theme, arm)),
                theme=theme,
            )
            for theme in THEMES
        }
        words = [
            f"{row.arm} {row.delay or 0:.1f} wrong answers after a flip, "
            f"{'no false alarm' if row.run_length is None else f'{row.run_length:.0f} right ones'}"
            f"{'' if row.run_length is None else ' to a false alarm'}"
            for row in there
        ]
        said = f"Delay against run length at {level.title}: {'; '.join(words)}."
        panels.append(
            Panel(
                id=f"{section_id(section)}-delay-{place}",
                title=level.title,
                words=said,
                specs=specs,
            )
        )
    return panels
