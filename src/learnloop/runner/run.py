"""Runs a method on an environment, one step at a time. Writes nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from learnloop.errors import LanguageModelError
from learnloop.protocols import Environment, Method, Sensor
from learnloop.records.schema import CallRecord, CallTiming, StepRecord, StepTiming
from learnloop.types import Call, Decision, Event, Feedback, Prediction, Query, Step


class CallLog(Protocol):
    """Knows every model call that was made."""

    def drain(self) -> Sequence[Call]:
        """Return the calls since the last time, in the order they were made."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The error of a step and what the gate made of it, where the method has a gate."""

    error: float | None = None
    decision: Decision | None = None


_NO_CONTROL = Control()


class StepJournal:
    """Keeps the events of the current step, and the gate's decision.

    Examples:
        >>> journal = StepJournal()
        >>> journal.record(Event(kind="cut", text="1 example left out"))
        >>> [event.kind for event in journal.drain()], journal.drain()
        (['cut'], ())
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._control: Control = _NO_CONTROL

    def record(self, event: Event) -> None:
        self._events.append(event)

    def decided(self, error: float, decision: Decision) -> None:
        self._control = Control(error=error, decision=decision)

    def drain_control(self) -> Control:
        """Return the last error and decision since the last time."""
        control, self._control = self._control, _NO_CONTROL
        return control

    def drain(self) -> tuple[Event, ...]:
        """Return the events since the last time, oldest first."""
        events, self._events = tuple(self._events), []
        return events


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruments:
    """What watches a run: the ledger of calls, the journal of events, and a clock in seconds."""

    ledger: CallLog
    journal: StepJournal
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """One step as it goes on record: what replays, and what a clock gave."""

    record: StepRecord
    timing: StepTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    query: Query
    prediction: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    prediction: Prediction
    failed: str | None = None


def run(
    method: Method,
    environment: Environment,
    *,
    sensor: Sensor,
    seed: int,
    steps: int | None,
    instruments: Instruments,
) -> Iterator[StepOutcome]:
    """Yield one outcome for each query of the stream, at most `steps`.

    A query whose answering call failed stays in the stream with score 0. Nobody learns from it:
    feedback on it is dropped, whenever it arrives. `BudgetError` passes through.
    """
    watch = instruments
    answered: dict[str, _Answered] = {}
    query: Query | None = environment.reset(seed=seed)
    number = 0
    while query is not None and (steps is None or number < steps):
        began = watch.clock()
        attempt = _attempt(method, query)
        step = environment.step(attempt.prediction)
        if attempt.failed is None:
            answered[query.id] = _Answered(query=query, prediction=attempt.prediction)
        sensed = sensor.sense(step.feedback, step=number)
        heard = tuple(feedback for feedback in sensed if feedback.target_id in answered)
        _learn(method, heard, answered=answered, journal=watch.journal)
        calls = watch.ledger.drain()
        yield StepOutcome(
            record=_record(
                number,
                query=query,
                attempt=attempt,
                step=step,
                heard=heard,
                journal=watch.journal,
                calls=calls,
            ),
            timing=StepTiming(
                step=number, seconds=watch.clock() - began, calls=tuple(map(_timing, calls))
            ),
        )
        query = step.query
        number += 1


def explain(error: Exception) -> str:
    """Return an error as it goes on record: its class and its words, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _attempt(method: Method, query: Query) -> _Attempt:
    try:
        return _Attempt(prediction=method.predict_one(query))
    except LanguageModelError as error:
        return _Attempt(prediction=Prediction(query_id=query.id, text=""), failed=explain(error))


def _learn(
    method: Method,
    heard: Sequence[Feedback],
    *,
    answered: dict[str, _Answered],
    journal: StepJournal,
) -> None:
    for feedback in heard:
        target = answered[feedback.target_id]
        try:
            method.learn_one(target.query, target.prediction, feedback)
        except LanguageModelError as error:
            journal.record(Event(kind="learning_failed", text=explain(error), refs=(feedback.id,)))


def _record(
    number: int,
    *,
    query: Query,
    attempt: _Attempt,
    step: Step,
    heard: tuple[Feedback, ...],
    journal: StepJournal,
    calls: Sequence[Call],
) -> StepRecord:
    prediction, score, control = attempt.prediction, step.score, journal.drain_control()
    return StepRecord(
        step=number,
        query_id=query.id,
        query=query.text,
        group=query.group,
        answer=prediction.text,
        score=score.value if attempt.failed is None else 0.0,
        why=score.why if attempt.failed is None else "",
        gold=score.gold,
        tags=score.tags,
        failed=attempt.failed,
        feedback=heard,
        error=control.error,
        decision=control.decision,
        prompt_version=prediction.prompt_version,
        examples=prediction.examples,
        evidence=prediction.evidence,
        policy=prediction.policy,
        events=journal.drain(),
        calls=tuple(map(_call, calls)),
    )


def _call(call: Call) -> CallRecord:
    usage = call.usage
    return CallRecord(
        role=call.role,
        model=call.model,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_thinking=usage.tokens_thinking,
        cost=usage.cost,
        error=call.error,
    )


def _timing(call: Call) -> CallTiming:
    return CallTiming(
        role=call.role,
        seconds=call.usage.seconds,
        tokens_cached=call.usage.tokens_cached,
        replayed=call.replayed,
    )
