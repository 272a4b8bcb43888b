"""What the page of one run shows: each step with all ids resolved, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from learnloop.records.schema import CallRecord, StepRecord, StepTiming
from learnloop.reports.groups import Section, flatten
from learnloop.reports.load import Run
from learnloop.types import Bullet, Feedback

Verdict = Literal["right", "wrong", "failed"]
CORRECTION = ":correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeShown:
    """An episode by its id; `step` is the number of its query's step, `None` if not in the run.

    `corrected` tells the correction that somebody gave from the answer of the model.
    """

    id: str
    step: int | None
    corrected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackShown:
    """One feedback as it arrived; `late` where it is about an earlier step."""

    target: str
    late: bool
    correct: bool | None
    value: float | None
    comment: str
    correction: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulletShown:
    """One bullet of the policy that was in force."""

    text: str
    sources: tuple[str, ...]
    helped: int
    harmed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """One model call with its tokens and its time."""

    role: str
    model: str
    tokens_in: int
    tokens_cached: int | None
    tokens_out: int
    seconds: float | None
    replayed: bool
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepShown:
    """One step; `number` counts from 1."""

    number: int
    id: str
    group: str
    query: str
    verdict: Verdict
    score: float
    why: str
    tags: tuple[str, ...]
    failed: str
    answer: str
    gold: str
    examples: tuple[EpisodeShown, ...]
    evidence: tuple[EpisodeShown, ...]
    writer: str
    policy: tuple[BulletShown, ...]
    feedback: tuple[FeedbackShown, ...]
    events: tuple[str, ...]
    decision: str
    calls: tuple[CallShown, ...]
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShown:
    """One run: its name, its spec field by field, and its steps."""

    id: str
    name: str
    section: str
    incomplete: bool
    leads: bool
    spec: dict[str, str]
    steps: tuple[StepShown, ...]


def show_runs(section: Section, *, leading: tuple[str, str] | None = None) -> list[RunShown]:
    """Return the runs of a section; those of the leading method and feedback are marked."""
    return [
        show_run(
            run,
            name=f"{group.label}, {group.feedback}, seed {run.seed}",
            section=section.title,
            leads=(group.label, group.feedback) == leading,
        )
        for group in section.groups
        for run in group.runs
    ]


def show_run(run: Run, *, name: str, section: str, leads: bool = False) -> RunShown:
    """Return one run with its steps; `leads` marks one that a page opens with."""
    timings = {timing.step: timing for timing in run.timings}
    past: dict[str, int] = {}
    steps = []
    for number, record in enumerate(run.steps, start=1):
        steps.append(_step(number, record, timing=timings.get(record.step), past=past))
        past[record.query_id] = number
    return RunShown(
        id=run.info.run_id,
        name=name,
        section=section,
        incomplete=not run.info.complete,
        leads=leads,
        spec=flatten(run.info.spec),
        steps=tuple(steps),
    )


def _step(
    number: int, record: StepRecord, *, timing: StepTiming | None, past: Mapping[str, int]
) -> StepShown:
    return StepShown(
        number=number,
        id=record.query_id,
        group=record.group,
        query=record.query,
        verdict=_verdict(record),
        score=record.score,
        why=record.why,
        tags=record.tags,
        failed=record.failed or "",
        answer=record.answer,
        gold=record.gold,
        examples=tuple(_episode(name, past) for name in record.examples),
        evidence=tuple(_episode(name, past) for name in record.evidence),
        writer=record.policy.writer if record.policy else "",
        policy=tuple(_bullet(one) for one in record.policy.bullets) if record.policy else (),
        feedback=tuple(_feedback(one, record.query_id) for one in record.feedback),
        events=tuple(f"{event.kind}: {event.text}" for event in record.events),
        decision=_decision(record),
        calls=_calls(record.calls, timing),
        seconds=timing.seconds if timing else None,
    )


def _verdict(record: StepRecord) -> Verdict:
    if record.failed is not None:
        return "failed"
    return "right" if record.score >= 1.0 else "wrong"


def _episode(name: str, past: Mapping[str, int]) -> EpisodeShown:
    """Resolve an episode id: that of its query, with `:correction` for a correction of it."""
    query_id, mark, _ = name.partition(CORRECTION)
    corrected = bool(mark) and name not in past
    return EpisodeShown(
        id=name, step=past.get(query_id if corrected else name), corrected=corrected
    )


def _bullet(bullet: Bullet) -> BulletShown:
    return BulletShown(
        text=bullet.text, sources=bullet.sources, helped=bullet.helped, harmed=bullet.harmed
    )


def _feedback(feedback: Feedback, query_id: str) -> FeedbackShown:
    return FeedbackShown(
        target=feedback.target_id,
        late=feedback.target_id != query_id,
        correct=feedback.correct,
        value=feedback.value,
        comment=feedback.comment or "",
        correction=feedback.correction or "",
        source=" ".join(filter(None, [feedback.source.kind, feedback.source.id])),
    )


def _decision(record: StepRecord) -> str:
    decision = record.decision
    if decision is None:
        return ""
    return (
        f"gate {'opened' if decision.opened else 'stayed shut'}, signal {decision.signal:.3g}"
        f"{_terms(decision.terms)}"
    )


def _terms(terms: Mapping[str, float]) -> str:
    words = ", ".join(f"{name} {value:.3g}" for name, value in terms.items())
    return f" ({words})" if words else ""


def _calls(calls: tuple[CallRecord, ...], timing: StepTiming | None) -> tuple[CallShown, ...]:
    """Join the calls with their timings, which are there unless the process was killed between."""
    timed = timing.calls if timing and len(timing.calls) == len(calls) else (None,) * len(calls)
    return tuple(
        CallShown(
            role=call.role,
            model=call.model,
            tokens_in=call.tokens_in,
            tokens_cached=clock.tokens_cached if clock else None,
            tokens_out=call.tokens_out,
            seconds=clock.seconds if clock else None,
            replayed=bool(clock and clock.replayed),
            error=call.error or "",
        )
        for call, clock in zip(calls, timed, strict=True)
    )
