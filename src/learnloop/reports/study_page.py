"""Works out what a page says across the environments of a study: tables, tests, costs, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.reports.arm_marks import shape_of
from learnloop.reports.control_panels import Panel
from learnloop.reports.families import FamilyGain, gains_by_family
from learnloop.reports.generality import Generality, measure_generality, rank_correlation
from learnloop.reports.grid import Grid, make_grid
from learnloop.reports.load import Run
from learnloop.reports.main_table import ModelBlock, Score, make_main_table
from learnloop.reports.memory_use import MemoryUse, find_memory_use
from learnloop.reports.reference_numbers import SourceNumbers, published_numbers
from learnloop.reports.row_notes import own_notes, say_notes
from learnloop.reports.rows_apart import RowsApart, find_rows_apart
from learnloop.reports.sameness import Sameness, by_words
from learnloop.reports.score_chart import score_panels
from learnloop.reports.standings import (
    ConfigurationTest,
    Standing,
    compare_configurations,
    make_standings,
)
from learnloop.reports.themes import Stroke, strokes
from learnloop.reports.token_costs import TokenCost, count_tokens
from learnloop.reports.wording import MINUS, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyShown:
    """All that a page says across methods, benchmarks and models."""

    grid: Grid
    blocks: list[ModelBlock]
    apart: list[RowsApart]
    standings: list[Standing]
    tests: list[ConfigurationTest]
    families: list[FamilyGain]
    costs: list[TokenCost]
    panels: list[Panel]
    generality: list[Generality]
    correlation: float | None
    sameness: str
    uses: list[MemoryUse]
    published: list[SourceNumbers]
    legend: tuple[Stroke, ...]

    @property
    def title(self) -> str:
        """How much was compared."""
        return (
            f"{plural(len(self.grid.methods), 'method')} on "
            f"{plural(len(self.grid.benchmarks), 'benchmark')} with "
            f"{plural(len(self.grid.models), 'model')}"
        )

    @property
    def subsets(self) -> str:
        """What the records note of rows and methods, and what that means; `""` if nothing."""
        rows = [f"{one.title}: {note}" for one in self.grid.benchmarks for note in one.notes]
        own = [
            f"{cell.method}: {note}"
            for cell in self.grid.cells.values()
            for run in cell.runs
            for note in own_notes(run, cell.benchmark.notes)
        ]
        return say_notes([*rows, *dict.fromkeys(own)])

    @property
    def noted(self) -> list[str]:
        """Why cells of the main table cannot be compared as they stand, in words."""
        return [
            f"{line.method}, {title}, {block.model}: {'; '.join(score.notes)}."
            for block in self.blocks
            for line in block.lines
            for title, score in line.scores.items()
            if score.notes
        ]

    @property
    def least_p(self) -> float:
        """The smallest p-value that the sign test can give over so many configurations."""
        return float(0.5 ** len(self.grid.configurations))

    @property
    def correlation_words(self) -> str:
        """The rank correlation of reach and gain as a number, `""` where there is none."""
        if self.correlation is None:
            return ""
        return f"{self.correlation:+.2f}".replace("-", MINUS)

    @property
    def swatches(self) -> dict[str, Stroke]:
        """The strokes by label."""
        return {stroke.label: stroke for stroke in self.legend}

    @property
    def shapes(self) -> dict[str, str]:
        """The shapes of points by label."""
        return {stroke.label: shape_of(stroke) for stroke in self.legend}

    @property
    def gain_heads(self) -> list[tuple[str, str]]:
        """The columns of the gains by family: reference and method."""
        return list(dict.fromkeys((one.reference, one.method) for one in self.families))

    def gain_of(self, family: str, head: tuple[str, str]) -> FamilyGain | None:
        """Return one gain by family, `None` where there is none."""
        found = (f for f in self.families if (f.reference, f.method) == head)
        return next((one for one in found if one.family == family), None)


def show_study(runs: Sequence[Run], *, same: Sameness | None = None) -> StudyShown | None:
    """Work out what can be said across runs, `None` where there are none.

    `same` tells bullets that say the same; without it words are compared.
    """
    if not runs:
        return None
    grid = make_grid(runs)
    same = same or by_words()
    tests = compare_configurations(grid)
    costs = count_tokens(grid)
    generality = measure_generality(grid, tests, same)
    legend = strokes(grid.methods, baselines=frozenset(grid.references))
    return StudyShown(
        grid=grid,
        blocks=make_main_table(grid),
        apart=find_rows_apart(grid),
        standings=make_standings(grid),
        tests=tests,
        families=gains_by_family(tests),
        costs=costs,
        panels=score_panels([one for one in costs if one.method in grid.compared], legend=legend),
        generality=generality,
        correlation=rank_correlation(generality),
        sameness=same.words,
        uses=find_memory_use(grid),
        published=published_numbers(one.name for one in grid.benchmarks),
        legend=legend,
    )


def show_size(score: Score) -> str:
    """Return how many steps and orders a mean is over.

    Examples:
        >>> one = Score(mean=.5, sd=None, orders=2, steps=(80, 80), beside=(), is_best=False,
        ...     notes=())
        >>> show_size(one)
        '2 × 80'
    """
    low, high = score.steps
    return f"{score.orders} × {low if low == high else f'{low} to {high}'}"
