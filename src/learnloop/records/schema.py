"""The shape of a run's files. `steps.jsonl` replays byte for byte; a clock writes elsewhere.

A run directory holds `run.json` (one `RunInfo`), `steps.jsonl` (one `StepRecord` a line) and
`timings.jsonl` (one `StepTiming` a line: seconds, and cached tokens, which depend on what the
process happened to have evaluated before).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from learnloop.types import CallRole, Decision, Event, Feedback, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One model call of a step, without what a clock or a cache gave."""

    role: CallRole
    model: str
    tokens_in: int
    tokens_out: int
    tokens_thinking: int = 0
    cost: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One line of `steps.jsonl`: everything about one step of the stream.

    `score` is 0 to 1, and 0 where the step failed (`failed` then says why). `feedback` is what
    arrived at this step, which may be about earlier queries. `why`, `gold` and `tags` come from
    the hidden score.
    """

    step: int
    query_id: str
    query: str
    group: str
    answer: str
    score: float
    why: str = ""
    gold: str = ""
    tags: tuple[str, ...] = ()
    failed: str | None = None
    feedback: tuple[Feedback, ...] = ()
    error: float | None = None
    decision: Decision | None = None
    prompt_version: int | None = None
    examples: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    policy: Policy | None = None
    events: tuple[Event, ...] = ()
    calls: tuple[CallRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTiming:
    """What a clock and the caches said about one call."""

    role: CallRole
    seconds: float
    tokens_cached: int
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiming:
    """One line of `timings.jsonl`. `seconds` is the whole step, model calls included."""

    step: int
    seconds: float
    calls: tuple[CallTiming, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The content of `run.json`: what was run, with what, where.

    `spec` is the frozen specification (environment, method, model, steps, seed, feedback and
    their parameters), `spec_hash` its sha256, `complete` whether the stream came to its end,
    `stopped` why it did not (a budget that was spent), where that was said. `note` is what readers
    of a result must know of the environment's rows: that they are a subset, for example.
    """

    run_id: str
    spec: Mapping[str, object]
    spec_hash: str
    environment_id: str
    task: str
    metric: str
    method: str
    model: str
    model_sha256: str | None
    packages: Mapping[str, str]
    machine: Mapping[str, str]
    complete: bool = False
    stopped: str | None = None
    note: str = ""
