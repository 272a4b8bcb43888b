"""All that a table needs of one run, in one record: the same from a line of a study or from steps.

What a run of a control task is measured by, besides its accuracy: how far its answers were off,
what was done to the prompt, and how soon a change was followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from learnloop.records.schema import CallRecord, RunInfo, StepRecord

CHANGED = "changed"
"""The tag of a step at which what is right has changed; the environment sets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUse:
    """What the calls of one role took. Failed calls count too."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What one run came to, and what it was a run of.

    Attributes:
        label: What reports call the method with these parameters.
        feedback: What of the feedback arrived, in the words of the spec.
        noise: Share of the feedback that was wrong, as the spec asks for it.
        steps: Steps on record.
        complete: Whether the stream came to its end.
        accuracy: Mean score, where a failed step counts 0; `None` before the first step.
        failed: Steps whose answering call failed.
        mae: Mean distance of the answer from the hidden truth, over the steps where both are
            whole numbers; `None` where there is no such step.
        rmse: Root of the mean square of that distance.
        prompt_changes: Edits that changed the prompt.
        editor_calls: How often the editor was called.
        calls_charged: Calls that its edits were charged with.
        invalid_proposals: Proposals of the editor that could not be used.
        rollbacks: How often the prompt before was put back.
        recalls: How often an earlier prompt was put in force again.
        false_alarms: How often the gate had the editor called, or an earlier prompt recalled, at
            a step that was answered right.
        changes: How often what is right has changed.
        delays: For each change, the steps from it to the first right answer: 0 where a prompt that
            had been wrong happens to be right now, `None` where the next change or the end of the
            stream came first.
        calls: What the model calls of each role took.
    """

    run_id: str
    spec: Mapping[str, object]
    spec_hash: str
    environment: str
    environment_id: str
    task: str
    metric: str
    method: str
    label: str
    model: str
    feedback: str
    noise: float
    seed: int
    steps: int
    complete: bool
    accuracy: float | None
    failed: int
    mae: float | None
    rmse: float | None
    prompt_changes: int
    editor_calls: int
    calls_charged: int
    invalid_proposals: int
    rollbacks: int
    recalls: int
    false_alarms: int
    changes: int
    delays: tuple[int | None, ...]
    calls: Mapping[str, RoleUse]


def summarise_run(info: RunInfo, steps: Sequence[StepRecord]) -> RunSummary:
    """Add up the steps of a run."""
    spec = info.spec
    feedback = str(spec.get("feedback", ""))
    distances = list(_distances(steps))
    tally = _count_events(steps)
    delays = tuple(_delays(steps))
    return RunSummary(
        run_id=info.run_id,
        spec=spec,
        spec_hash=info.spec_hash,
        environment=str(spec.get("environment", info.task)),
        environment_id=info.environment_id,
        task=info.task,
        metric=info.metric,
        method=info.method,
        label=str(spec.get("label") or info.method),
        model=info.model,
        feedback=feedback,
        noise=noise_of(feedback),
        seed=_seed(spec),
        steps=len(steps),
        complete=info.complete,
        accuracy=sum(record.score for record in steps) / len(steps) if steps else None,
        failed=sum(record.failed is not None for record in steps),
        mae=sum(distances) / len(distances) if distances else None,
        rmse=math.sqrt(sum(d * d for d in distances) / len(distances)) if distances else None,
        changes=len(delays),
        delays=delays,
        calls=_by_role(steps),
        **tally,
    )


def noise_of(feedback: str) -> float:
    """Return the share of wrong messages that a spec's feedback asks for.

    Examples:
        >>> noise_of("binary,noise=0.1"), noise_of("comment")
        (0.1, 0.0)
    """
    words = (part.strip().partition("=") for part in feedback.split(","))
    given = {word.strip(): number for word, _, number in words}
    return float(given.get("noise") or 0)


def _count_events(steps: Sequence[StepRecord]) -> dict[str, int]:
    counts = dict.fromkeys((*_COUNTED.values(), "calls_charged", "false_alarms"), 0)
    for record in steps:
        for event in record.events:
            name = _COUNTED.get(event.kind)
            if name is not None:
                counts[name] += 1
            if event.kind == "editor_called":
                counts["calls_charged"] += int(event.text.rpartition(" ")[2])
            if event.kind in _ALARMS:
                counts["false_alarms"] += record.score >= 1.0
    return counts


def _distances(steps: Sequence[StepRecord]) -> Iterator[int]:
    for record in steps:
        answer, gold = _whole(record.answer), _whole(record.gold)
        if answer is not None and gold is not None:
            yield abs(answer - gold)


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _delays(steps: Sequence[StepRecord]) -> Iterator[int | None]:
    since: int | None = None
    for number, record in enumerate(steps):
        if CHANGED in record.tags:
            if since is not None:
                yield None
            since = number
        if since is not None and record.score >= 1.0:
            yield number - since
            since = None
    if since is not None:
        yield None


def _by_role(steps: Sequence[StepRecord]) -> dict[str, RoleUse]:
    roles: dict[str, list[CallRecord]] = {}
    for record in steps:
        for call in record.calls:
            roles.setdefault(call.role, []).append(call)
    return {
        role: RoleUse(
            calls=len(calls),
            tokens_in=sum(call.tokens_in for call in calls),
            tokens_out=sum(call.tokens_out for call in calls),
        )
        for role, calls in roles.items()
    }


def _seed(spec: Mapping[str, object]) -> int:
    seed = spec.get("seed")
    return seed if isinstance(seed, int) else 0


_COUNTED = {
    "prompt_changed": "prompt_changes",
    "editor_called": "editor_calls",
    "proposal_invalid": "invalid_proposals",
    "rolled_back": "rollbacks",
    "recalled": "recalls",
}
"""Where events of a kind are counted."""

_ALARMS = ("editor_called", "recalled")
"""What happens where a gate opens: one of these."""
