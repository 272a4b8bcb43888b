"""Shows thousands of short runs: how many are made while they go on, and a table of what came."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from learnloop.cli.progress import percent
from learnloop.records.run_summary import RunSummary
from learnloop.runner.bulk import BulkPlan

PLAIN_PARTS = 10
"""Without a terminal, so many lines in all."""


class Tally:
    """Counts runs as they are made, and why some were not. Use it in a `with` statement.

    Args:
        planned: The runs.
        console: Where to draw.
    """

    def __init__(self, planned: BulkPlan, console: Console) -> None:
        self.planned = planned
        self.console = console
        self.failures: dict[str, list[str]] = {}
        self.tried = 0
        columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("runs", total=len(planned.specs), completed=planned.done)

    def made(self, run_id: str, why: str | None) -> None:
        if why is not None:
            self.failures.setdefault(why, []).append(run_id)
        self.tried += 1
        number, total = self.planned.done + self.tried, len(self.planned.specs)
        self._bar.update(self._task, completed=number)
        part = max(1, total // PLAIN_PARTS)
        if not self.console.is_terminal and (number % part == 0 or number == total):
            self.console.print(f"{number:,} of {total:,} runs", highlight=False)

    def reasons(self, *, stopped: str | None) -> dict[str, str]:
        """Say which runs left no line, and why; runs with the same reason are counted."""
        found = {_name(runs): why for why, runs in self.failures.items()}
        left = len(self.planned.left) - self.tried
        return found | ({f"{left:,} runs": stopped or "not made"} if left else {})

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """The means over the seeds of one method in one setting; `environment` with its parameters."""

    environment: str
    feedback: str
    label: str
    runs: int
    accuracy: float | None
    mae: float | None
    rmse: float | None
    editor_calls: float
    prompt_changes: float


def make_arms(summaries: Iterable[RunSummary]) -> list[Arm]:
    """Average the runs of each environment, feedback and label, in the order they come."""
    grouped: dict[tuple[str, str, str], list[RunSummary]] = {}
    for summary in summaries:
        key = (_setting(summary), summary.feedback, summary.label)
        grouped.setdefault(key, []).append(summary)
    return [_arm(runs) for _, runs in sorted(grouped.items(), key=lambda item: item[0][:2])]


def arms_as_json(arms: Iterable[Arm]) -> list[dict[str, object]]:
    """Return the arms as plain values."""
    return [dataclasses.asdict(arm) for arm in arms]


def arms_table(arms: Iterable[Arm]) -> Table:
    """Return one row an arm."""
    table = Table(box=None, pad_edge=False)
    for name in ("environment", "feedback", "method"):
        table.add_column(name, overflow="fold", no_wrap=name == "method")
    for name in ("runs", "accuracy", "MAE", "RMSE", "calls", "edits"):
        table.add_column(name, justify="right", no_wrap=True)
    for arm in arms:
        table.add_row(
            *(arm.environment, arm.feedback, arm.label, f"{arm.runs:,}", percent(arm.accuracy)),
            *map(_number, (arm.mae, arm.rmse, arm.editor_calls, arm.prompt_changes)),
        )
    return table


def _arm(runs: list[RunSummary]) -> Arm:
    first = runs[0]
    return Arm(
        environment=_setting(first),
        feedback=first.feedback,
        label=first.label,
        runs=len(runs),
        accuracy=_mean(run.accuracy for run in runs),
        mae=_mean(run.mae for run in runs),
        rmse=_mean(run.rmse for run in runs),
        editor_calls=sum(run.editor_calls for run in runs) / len(runs),
        prompt_changes=sum(run.prompt_changes for run in runs) / len(runs),
    )


def _setting(run: RunSummary) -> str:
    given = run.spec.get("environment_params")
    params = given.items() if isinstance(given, Mapping) else ()
    return ", ".join([run.environment, *(f"{name} {value}" for name, value in params)])


def _name(runs: list[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1:,} more"


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
