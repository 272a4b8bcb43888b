"""The table of a control task: one row an arm and noise level, means over its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from learnloop.records.run_summary import RoleUse, RunSummary
from learnloop.reports.control_limits import Limits, make_limits
from learnloop.reports.control_metrics import Metric
from learnloop.reports.control_sections import ControlRun, ControlSection, Level
from learnloop.reports.statistics import spread
from learnloop.reports.wording import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMeans:
    """What models did in one role, as means of a run."""

    calls: float
    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow:
    """What one arm came to at one level of noise. Counts are means of a run.

    Attributes:
        environment: The task with its parameters.
        arm: The arm; a reference editor is named in it.
        feedback: The feedback, in the words of the spec.
        noise: Share of the feedback that is wrong.
        metric: What `mean` and `sd` are of.
        higher_is_better: Which way is better.
        mean: Over the runs that came to their end; `None` where none did.
        sd: Standard deviation over the same, `None` for a single run.
        is_best: Whether no arm has a better mean at this level.
        runs: Runs that count.
        seeds: Their seeds.
        steps: Steps of a run.
        calls: Calls that the edits were charged with. A reference editor stands for one call.
        edits: Edits that changed the prompt.
        changes_of_prompt: Edits, rollbacks and recalls together: how often the prompt in force
            became another one. This is what limits count as edits.
        editor_calls: How often the editor was called.
        invalid: Proposals that could not be used.
        rollbacks: How often the prompt before was put back.
        recalls: How often an earlier prompt was put in force again.
        roles: What models really did, by role.
        tokens_in: Tokens read, all roles.
        tokens_out: Tokens written, all roles.
        seconds: Time of a run; `None` where no clock is on record.
        failed: Steps without an answer, over all runs.
        limit: What the limit of this level reaches with as many changes of the prompt: the ideal
            filter on parity, the best held values on track, the ideal tracker on guess.
        distance: How much better the limit is than `mean`.
        changes: Changes of the hidden rule that made a prompt wrong that had been right.
        followed: Share of those after which an answer was right again before the next change.
        delay: Mean wrong answers after those that were followed.
        false_alarms: Calls of the editor while the prompt was right, over all runs.
        run_length: Mean steps under a right prompt to a false alarm; `None` without false alarms.
        right_steps: Steps under a right prompt, over all runs.
        notes: What keeps the row from being compared as it stands.
    """

    environment: str
    arm: str
    feedback: str
    noise: float
    metric: str
    higher_is_better: bool
    mean: float | None
    sd: float | None
    is_best: bool
    runs: int
    seeds: tuple[int, ...]
    steps: float
    calls: float
    edits: float
    changes_of_prompt: float
    editor_calls: float
    invalid: float
    rollbacks: float
    recalls: float
    roles: Mapping[str, RoleMeans]
    tokens_in: float
    tokens_out: float
    seconds: float | None
    failed: int
    limit: float | None
    distance: float | None
    changes: int
    followed: float | None
    delay: float | None
    false_alarms: int
    run_length: float | None
    right_steps: float
    notes: tuple[str, ...]


def make_control_rows(
    section: ControlSection, *, limits: Mapping[str, Limits] | None = None
) -> list[ControlRow]:
    """Return the rows of a section, level by level, arms in order."""
    known = make_limits(section) if limits is None else limits
    return [row for level in section.levels for row in _at_level(section, level, known)]


def _at_level(
    section: ControlSection, level: Level, limits: Mapping[str, Limits]
) -> list[ControlRow]:
    present = [label for label in section.labels if section.at(label, level)]
    most = max((len(_seeds(section.finished(label, level))) for label in present), default=0)
    rows = [
        _held_against(_row(section, label, level, most=most), limits, section.metric)
        for label in present
    ]
    means = [row.mean for row in rows if row.mean is not None]
    if len(means) < 2:
        return rows
    best = max(means) if section.metric.higher_is_better else min(means)
    return [replace(row, is_best=row.mean == best) for row in rows]


def _row(section: ControlSection, label: str, level: Level, *, most: int) -> ControlRow:
    runs = section.finished(label, level)
    done = [run.summary for run in runs]
    values = [value for one in done if (value := section.metric.of(one)) is not None]
    found = spread(values) if values else None
    follow = _following(done)
    return ControlRow(
        environment=section.title,
        arm=label,
        feedback=level.feedback,
        noise=level.noise,
        metric=section.metric.name,
        higher_is_better=section.metric.higher_is_better,
        mean=found.mean if found else None,
        sd=found.sd if found else None,
        is_best=False,
        runs=len(runs),
        seeds=_seeds(runs),
        steps=_mean([one.steps for one in done]),
        calls=_mean([one.calls_charged for one in done]),
        edits=_mean([one.prompt_changes for one in done]),
        changes_of_prompt=_mean([changes_of_prompt(one) for one in done]),
        editor_calls=_mean([one.editor_calls for one in done]),
        invalid=_mean([one.invalid_proposals for one in done]),
        rollbacks=_mean([one.rollbacks for one in done]),
        recalls=_mean([one.recalls for one in done]),
        roles=_by_role(done),
        tokens_in=_mean([sum(use.tokens_in for use in one.calls.values()) for one in done]),
        tokens_out=_mean([sum(use.tokens_out for use in one.calls.values()) for one in done]),
        seconds=_seconds(runs),
        failed=sum(one.failed for one in done),
        limit=None,
        distance=None,
        changes=follow.changes,
        followed=follow.followed,
        delay=follow.delay,
        false_alarms=follow.false_alarms,
        run_length=follow.run_length,
        right_steps=follow.right_steps,
        notes=_notes(section.at(label, level), most=most),
    )


def _held_against(row: ControlRow, limits: Mapping[str, Limits], metric: Metric) -> ControlRow:
    """Return the row with what the limit reaches with as many changes of the prompt."""
    if row.mean is None or row.feedback not in limits:
        return row
    reach = limits[row.feedback].reached_with(row.changes_of_prompt)
    if reach is None:
        return row
    return replace(row, limit=reach, distance=metric.better(reach, row.mean))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Following:
    changes: int
    followed: float | None
    delay: float | None
    false_alarms: int
    right_steps: float

    @property
    def run_length(self) -> float | None:
        return self.right_steps / self.false_alarms if self.false_alarms else None


def _following(runs: Sequence[RunSummary]) -> _Following:
    """Return how changes were followed; one to a rule that the prompt had by then is left out."""
    delays = [delay for run in runs for delay in run.delays if delay != 0]
    followed = [delay for delay in delays if delay is not None]
    return _Following(
        changes=len(delays),
        followed=len(followed) / len(delays) if delays else None,
        delay=fmean(followed) if followed else None,
        false_alarms=sum(run.false_alarms for run in runs),
        right_steps=sum((run.accuracy or 0.0) * run.steps for run in runs),
    )


def _by_role(runs: Sequence[RunSummary]) -> dict[str, RoleMeans]:
    roles = dict.fromkeys(role for run in runs for role in run.calls)
    none = RoleUse()
    uses = {role: [run.calls.get(role, none) for run in runs] for role in roles}
    return {
        role: RoleMeans(
            calls=_mean([use.calls for use in used]),
            tokens_in=_mean([use.tokens_in for use in used]),
            tokens_out=_mean([use.tokens_out for use in used]),
        )
        for role, used in uses.items()
    }


def changes_of_prompt(run: RunSummary) -> int:
    """Return how often the prompt in force became another one."""
    return run.prompt_changes + run.rollbacks + run.recalls


def _seconds(runs: Sequence[ControlRun]) -> float | None:
    known = [run.seconds for run in runs if run.seconds is not None]
    return fmean(known) if known else None


def _notes(runs: Sequence[ControlRun], *, most: int) -> tuple[str, ...]:
    unfinished = [run.summary.seed for run in runs if not run.summary.complete]
    finished = [run for run in runs if run.summary.complete]
    notes = []
    if unfinished:
        seeds = ", ".join(map(str, unfinished[:5])) + (", …" if len(unfinished) > 5 else "")
        notes.append(f"{plural(len(unfinished), 'unfinished run')} left out (seed {seeds})")
    if len(_seeds(finished)) < most:
        notes.append(f"{len(_seeds(finished))} of {plural(most, 'seed')}")
    if len(finished) > len(_seeds(finished)):
        notes.append(f"{plural(len(finished) - len(_seeds(finished)), 'run')} repeated")
    return tuple(notes)


def _seeds(runs: Sequence[ControlRun]) -> tuple[int, ...]:
    return tuple(sorted({run.summary.seed for run in runs}))


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
