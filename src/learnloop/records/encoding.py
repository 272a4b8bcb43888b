"""One record, one line of JSON: fixed field order, UTF-8, and back. Knows nothing of files."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from learnloop.errors import RecordError
from learnloop.records.run_summary import RunSummary
from learnloop.records.schema import RunInfo, StepRecord, StepTiming

Record = TypeVar("Record", StepRecord, StepTiming, RunInfo, RunSummary)

STEP: TypeAdapter[StepRecord] = TypeAdapter(StepRecord)
TIMING: TypeAdapter[StepTiming] = TypeAdapter(StepTiming)
INFO: TypeAdapter[RunInfo] = TypeAdapter(RunInfo)
SUMMARY: TypeAdapter[RunSummary] = TypeAdapter(RunSummary)


def encode(adapter: TypeAdapter[Record], record: Record) -> bytes:
    """Return the record as one line with its newline, fields in the order of its class.

    Half characters (lone surrogates), which UTF-8 cannot hold, become `?`.
    """
    plain = adapter.dump_python(record, mode="python")
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=dict)
    return text.encode("utf-8", "replace") + b"\n"


def decode(adapter: TypeAdapter[Record], line: bytes, *, where: str) -> Record:
    """Read a record back.

    Raises:
        RecordError: The line is not such a record; `where` names it.
    """
    try:
        return adapter.validate_python(json.loads(line))
    except (ValueError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise RecordError(f"{where} cannot be read ({first}); was it edited?") from error


def first_difference(recorded: bytes, remade: bytes) -> str | None:
    """Return the name of the first field in which two encoded records differ.

    Examples:
        >>> first_difference(b'{"step":1,"score":0.0}', b'{"step":1,"score":1.0}')
        'score'
        >>> first_difference(b'{"step":1}', b'{"step":1}') is None
        True
    """
    if recorded == remade:
        return None
    old, new = json.loads(recorded), json.loads(remade)
    names = [*old, *(name for name in new if name not in old)]
    return next((name for name in names if old.get(name) != new.get(name)), "layout")
