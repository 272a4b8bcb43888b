"""The numbers of one run, added up from its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.records.schema import StepRecord, StepTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one run came to. A failed step is in `steps` and counts 0 in `accuracy`.

    `accuracy` is `None` before the first step. `calls` counts failed calls too.
    """

    steps: int
    accuracy: float | None
    failed: int
    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    seconds: float


def summarise(steps: Sequence[StepRecord], timings: Sequence[StepTiming]) -> Summary:
    """Add up the records of a run; timings without their step are left out.

    Examples:
        >>> summarise([], []).accuracy is None
        True
    """
    calls = [call for record in steps for call in record.calls]
    timed = timings[: len(steps)]
    return Summary(
        steps=len(steps),
        accuracy=sum(record.score for record in steps) / len(steps) if steps else None,
        failed=sum(record.failed is not None for record in steps),
        calls=len(calls),
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_cached=sum(call.tokens_cached for timing in timed for call in timing.calls),
        tokens_out=sum(call.tokens_out for call in calls),
        seconds=sum(timing.seconds for timing in timed),
    )
