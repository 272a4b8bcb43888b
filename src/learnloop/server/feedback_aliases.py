"""Reads feedback in our words or those of Langfuse, MLflow, TensorZero and Opik."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    ValidationError,
)

from learnloop.errors import RequestRefusedError
from learnloop.server.config import FeedbackRules
from learnloop.types import Feedback, Source

LONGEST_ID = 200
LONGEST_TEXT = 20_000
LEAST_BELIEVED = 0.5
"""What is believed less than this is kept, and neither judges an answer nor teaches anything."""

_TARGETS = (
    "target_id",
    "inference_id",
    "observationId",
    "observation_id",
    "traceId",
    "trace_id",
)


def _is_moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Id = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=LONGEST_ID)]
Text = Annotated[str, StringConstraints(strict=True, max_length=LONGEST_TEXT)]
Moment = Annotated[str, StringConstraints(strict=True), AfterValidator(_is_moment)]


class SourceBody(BaseModel):
    """Who says so: `kind` and `id`, or `source_type` and `source_id` as MLflow has it."""

    model_config = ConfigDict(frozen=True)

    kind: Id = Field(default="user", validation_alias=AliasChoices("kind", "source_type"))
    id: Annotated[str, StringConstraints(strict=True, max_length=LONGEST_ID)] = Field(
        default="", validation_alias=AliasChoices("id", "source_id")
    )


class FeedbackBody(BaseModel):
    """One feedback as a client sends it; fields that are not known are passed over.

    Attributes:
        id: Idempotency key; the server makes one where it is missing.
        target_id: Id of the inference: `inference_id`, `traceId`, `observationId` and Opik's `id`
            are it too.
        value: true or false, a number that the task's threshold judges, or words: `right` or `bad`
            judge, others are a comment. Of the name `demonstration` or the `dataType` `CORRECTION`
            it is the right answer.
        supersedes: Id of the feedback that this one replaces; MLflow calls it `overrides`.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    id: Id | None = None
    target_id: Id = Field(validation_alias=AliasChoices(*_TARGETS))
    name: Id = Field(default="correct", validation_alias=AliasChoices("name", "metric_name"))
    correct: StrictBool | None = None
    value: StrictBool | StrictInt | StrictFloat | Text | None = None
    data_type: StrictStr | None = Field(
        default=None, validation_alias=AliasChoices("dataType", "data_type")
    )
    comment: Text | None = Field(
        default=None, validation_alias=AliasChoices("comment", "rationale", "reason")
    )
    correction: Text | None = None
    observed: Text | None = None
    source: SourceBody | Id = SourceBody()
    confidence: Annotated[float, Field(ge=0, le=1, strict=True)] | None = Field(
        default=None, validation_alias=AliasChoices("confidence", "weight")
    )
    event_time: Moment | None = Field(
        default=None, validation_alias=AliasChoices("event_time", "timestamp")
    )
    supersedes: Id | None = Field(
        default=None, validation_alias=AliasChoices("supersedes", "overrides")
    )


def read_body(content: object, *, place: str = "") -> FeedbackBody:
    """Check what a client sent.

    Args:
        content: One feedback, as JSON has it.
        place: Where it stood in a list, for the message.

    Raises:
        RequestRefusedError: Something in it is not good (422); the message names the field.

    Examples:
        >>> read_body({"id": "inf_1", "name": "correct", "value": 1.0, "reason": "Yes"}).target_id
        'inf_1'
    """
    if not isinstance(content, dict):
        raise _refused(f"{place}feedback must be a JSON object, got {type(content).__name__}")
    try:
        body = FeedbackBody.model_validate(_with_target(content))
    except ValidationError as error:
        raise _refused(_explain(error, place)) from error
    said = (body.correct, body.value, body.comment, body.correction, body.observed)
    if all(part is None for part in said) and body.supersedes is None:
        raise _refused(
            f"{place}value: is missing; give at least one of correct, value, comment, correction "
            "and observed"
        )
    return body


def read_feedback(body: FeedbackBody, *, feedback_id: str, rules: FeedbackRules) -> Feedback:
    """Return what a body says, judged and weighed as its task has it.

    The same body and rules always give the same feedback.

    Raises:
        RequestRefusedError: The kind of source is not known, or a value does not go with the rest
            (422).
    """
    source = _source(body.source)
    weight = rules.weight(source.kind)
    confidence = weight * (1.0 if body.confidence is None else body.confidence)
    said = _said(body, rules)
    return Feedback(
        id=feedback_id,
        target_id=body.target_id,
        name=body.name,
        correct=said.correct if confidence >= LEAST_BELIEVED else None,
        value=said.value,
        comment=said.comment,
        correction=said.correction,
        observed=body.observed,
        source=source,
        confidence=None if body.confidence is None and weight == 1.0 else confidence,
        event_time=body.event_time,
        supersedes=body.supersedes,
    )


def for_learning(feedback: Feedback) -> Feedback:
    """Return what a learner may hear: of a source that is hardly believed, that it spoke.

    Examples:
        >>> doubted = Feedback(id="f", target_id="i", comment="No!", confidence=0.2)
        >>> for_learning(doubted).comment is None
        True
    """
    if feedback.confidence is None or feedback.confidence >= LEAST_BELIEVED:
        return feedback
    return replace(feedback, correct=None, value=None, comment=None, correction=None, observed=None)


def _said(body: FeedbackBody, rules: FeedbackRules) -> Feedback:
    """Return the part of a feedback that its value takes part in."""
    blank = Feedback(
        id="",
        target_id="",
        correct=body.correct,
        comment=body.comment,
        correction=body.correction,
    )
    value = body.value
    if value is None:
        return blank
    if isinstance(value, str):
        return _said_in_words(blank, value, body)
    if body.name in _CORRECTIONS or (body.data_type or "").upper() == "CORRECTION":
        raise _refused(f"value: a correction is a text, got {value!r}")
    right = value if isinstance(value, bool) else value >= rules.threshold
    number = None if isinstance(value, bool) else _number(value)
    return replace(blank, correct=right if body.correct is None else body.correct, value=number)


def _said_in_words(blank: Feedback, value: str, body: FeedbackBody) -> Feedback:
    kind = (body.data_type or "").upper()
    if kind in {"NUMERIC", "BOOLEAN"}:
        raise _refused(f"value: must be a number where dataType is {kind}, got {value!r:.80}")
    if body.name in _CORRECTIONS or kind == "CORRECTION":
        return replace(blank, correction=blank.correction or value)
    verdict = _WORDS.get(value.strip().lower())
    if verdict is not None:
        return replace(blank, correct=verdict if body.correct is None else body.correct)
    return replace(blank, comment=value if not blank.comment else f"{value}: {blank.comment}")


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise _refused("value: the number is too large") from error


def _source(given: SourceBody | str) -> Source:
    kind, name = (given, "") if isinstance(given, str) else (given.kind, given.id)
    known = _KINDS.get(kind.lower())
    if known is None:
        raise _refused(
            f"source.kind: no kind {kind!r}; give user, reviewer, model, code or environment"
        )
    return Source(kind=known, id=name)


def _with_target(content: Mapping[str, Any]) -> dict[str, Any]:
    """Take Opik's `id` for the target; leave out what is null, which is as good as missing."""
    given = {name: value for name, value in content.items() if value is not None}
    if "id" in given and not any(name in given for name in _TARGETS):
        given["target_id"] = given.pop("id")
    return given


def _explain(error: ValidationError, place: str) -> str:
    """Say of each field what is wrong; of one that may be several things, what the last wants."""
    problems = {_field(problem["loc"]): problem for problem in error.errors()}
    lines = []
    for name, problem in problems.items():
        if problem["type"] == "missing":
            lines.append(f"{place}{name}: is missing; it is the id of the completion")
        else:
            said = problem["msg"].removeprefix("Value error, ").lower()
            lines.append(f"{place}{name}: {said}, got {problem['input']!r:.80}")
    return "; ".join(lines)


def _field(loc: tuple[int | str, ...]) -> str:
    """Return the name of a field, without the alternatives of its type."""
    nested = loc[0] == "source" and loc[-1] in {"kind", "id", "source_type", "source_id"}
    return f"source.{loc[-1]}" if nested else str(loc[0])


def _refused(message: str) -> RequestRefusedError:
    return RequestRefusedError(message, status=422, code="invalid_feedback")


_CORRECTIONS = frozenset({"demonstration", "correction"})
"""Names under which a value is the right answer."""

_WORDS = {
    **dict.fromkeys(("right", "correct", "true", "yes", "good", "up", "thumbs_up", "pass"), True),
    **dict.fromkeys(
        ("wrong", "incorrect", "false", "no", "bad", "down", "thumbs_down", "fail"), False
    ),
}

_KINDS = {
    **dict.fromkeys(("user", "human", "ui", "end_user"), "user"),
    **dict.fromkeys(("reviewer", "annotation", "annotator"), "reviewer"),
    **dict.fromkeys(("model", "llm", "llm_judge", "ai_judge", "eval", "online_scoring"), "model"),
    **dict.fromkeys(("code", "api", "sdk"), "code"),
    **dict.fromkeys(("environment", "env"), "environment"),
}
