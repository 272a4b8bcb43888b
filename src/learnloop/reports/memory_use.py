"""Whether memory was used: what was found and what was shown, run by run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from learnloop.records.schema import StepRecord
from learnloop.reports.grid import Cell, Grid
from learnloop.reports.load import Run

WITHOUT_MEMORY = ("zero_shot", "no_edit", "chain_of_thought", "self_refine", "oracle")
"""Methods that are meant to remember nothing."""
NOT_CITED = (
    "Whether a reply cites an example is not measured: records keep the parsed answer and not the "
    "reply, and no method asks a model to name what it used."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Shares of the steps of one run.

    Attributes:
        retrieved: Something was found: shown as an example or evidence, or cut for want of space.
        examples: Examples were shown to the answering model.
        mean_examples: How many, a step.
        evidence: Episodes were shown to the writer of a policy.
        policy: A policy was shown to the answering model.
        prompts: How many versions of a persistent prompt were in force.
        is_unused: Whether a method that should remember showed nothing that it had learnt.
    """

    method: str
    benchmark: str
    model: str
    seed: int
    steps: int
    retrieved: float
    examples: float
    mean_examples: float
    evidence: float
    policy: float
    prompts: int
    is_unused: bool


def find_memory_use(grid: Grid) -> list[MemoryUse]:
    """Return a row for each run that has steps."""
    return [
        _use(cell, run, grid.kinds[cell.method])
        for benchmark, model in grid.configurations
        for cell in grid.of(benchmark, model)
        for run in cell.runs
        if run.steps
    ]


def _use(cell: Cell, run: Run, kind: str) -> MemoryUse:
    prompts = {step.prompt_version for step in run.steps} - {None}
    shown = _share(run, lambda step: bool(step.examples or step.evidence or step.policy))
    return MemoryUse(
        method=cell.method,
        benchmark=cell.benchmark.title,
        model=cell.model,
        seed=run.seed,
        steps=len(run.steps),
        retrieved=_share(run, _has_found),
        examples=_share(run, lambda step: bool(step.examples)),
        mean_examples=fmean(len(step.examples) for step in run.steps),
        evidence=_share(run, lambda step: bool(step.evidence)),
        policy=_share(run, lambda step: step.policy is not None),
        prompts=len(prompts),
        is_unused=kind not in WITHOUT_MEMORY and not shown and len(prompts) < 2,
    )


def _has_found(step: StepRecord) -> bool:
    was_cut = any(event.kind == "cut" for event in step.events)
    return bool(step.examples or step.evidence) or was_cut


def _share(run: Run, holds: Callable[[StepRecord], bool]) -> float:
    return fmean(holds(step) for step in run.steps)
