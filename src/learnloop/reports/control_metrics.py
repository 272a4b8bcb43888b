"""What a control task is measured by, and how such a number reads."""

from __future__ import annotations

from dataclasses import dataclass

from learnloop.records.run_summary import RunSummary
from learnloop.reports.wording import MINUS


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """How a control task is measured, on the true hidden target.

    Attributes:
        field: The field of a run's summary.
        name: As a heading says it.
        higher_is_better: Which way is better.
        is_share: Whether it is a share of 1, shown in per cent.
        change: What a change of the hidden target is called.
    """

    field: str
    name: str
    higher_is_better: bool
    is_share: bool
    change: str

    @property
    def arrow(self) -> str:
        """An arrow in the better direction."""
        return "↑" if self.higher_is_better else "↓"

    def of(self, summary: RunSummary) -> float | None:
        """Return what a run came to."""
        value: float | None = getattr(summary, self.field)
        return value

    def better(self, one: float, other: float) -> float:
        """Return by how much one value is better than another; below 0 where it is worse."""
        return one - other if self.higher_is_better else other - one

    def show(self, value: float | None) -> str:
        """Return a value for people: per cent without the sign, or the number.

        Examples:
            >>> METRICS["parity"].show(0.9137), METRICS["guess"].show(4.417)
            ('91.4', '4.42')
        """
        if value is None:
            return "–"
        return f"{100 * value:.1f}" if self.is_share else f"{value:.2f}"

    def show_difference(self, value: float | None) -> str:
        """Return a difference with its sign.

        Examples:
            >>> METRICS["parity"].show_difference(0.0312), METRICS["track"].show_difference(-1.5)
            ('+3.1', '−1.50')
        """
        if value is None:
            return "–"
        words = self.show(abs(value))
        return words if float(words) == 0 else f"{MINUS if value < 0 else '+'}{words}"

    @property
    def unit(self) -> str:
        """What the shown number counts."""
        return "%" if self.is_share else ""


METRICS = {
    "parity": Metric(
        field="accuracy", name="accuracy", higher_is_better=True, is_share=True, change="rule flips"
    ),
    "guess": Metric(
        field="mae", name="MAE", higher_is_better=False, is_share=False, change="number jumps"
    ),
    "track": Metric(
        field="rmse", name="RMSE", higher_is_better=False, is_share=False, change="path jumps"
    ),
}
"""The control tasks; every other task is a stream of data."""
