"""Goes on with a run: made again from its first step over the response cache, then further.

Steps that are on record must come out the same, byte for byte; their timings stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from learnloop.errors import ReplayError, ResumeError
from learnloop.records.encoding import STEP, encode, first_difference
from learnloop.records.schema import RunInfo
from learnloop.records.writer import RunWriter
from learnloop.runner.budget import Spending
from learnloop.runner.run import StepOutcome
from learnloop.runner.spec import RunSpec, changed_fields


def keep_records(
    outcomes: Iterable[StepOutcome], *, writer: RunWriter, spending: Spending
) -> Iterator[StepOutcome]:
    """Record each outcome that is not on record yet, and pass all of them on.

    Stops before a step that the budget does not allow; steps that are on record are always made
    again, since they cost nothing. A timing is written before its step, so that it is the true
    one also where the process dies between the two.

    Raises:
        ReplayError: A step came out other than it is on record.
        RecordError: A record cannot be written.
    """
    for outcome in outcomes:
        number = outcome.record.step
        if number >= len(writer.timings):
            writer.append_timing(outcome.timing)
        if number < len(writer.steps):
            _compare(outcome, writer.steps[number], directory=str(writer.directory))
        else:
            writer.append_step(outcome.record)
        spending.add(outcome.record, outcome.timing)
        yield outcome
        if number + 1 >= len(writer.steps) and spending.why_stop() is not None:
            return


def check_same(info: RunInfo, spec: RunSpec, *, directory: str) -> None:
    """Raise unless the run in the directory is the run of this spec.

    Raises:
        ResumeError: The message names the fields that changed.
    """
    changed = changed_fields(info.spec, spec)
    if changed:
        raise ResumeError(
            f"the run in {directory!r} is another one ({'; '.join(changed)}); "
            "resume it as it was begun, or give another --out"
        )


def _compare(outcome: StepOutcome, recorded: bytes, *, directory: str) -> None:
    field = first_difference(recorded, encode(STEP, outcome.record))
    if field is not None:
        raise ReplayError(
            f"step {outcome.record.step} of {directory!r} does not replay: {field!r} differs from "
            "what is on record; was the code, the model file or the response cache changed? "
            "Nothing was overwritten; run anew with another --out"
        )
