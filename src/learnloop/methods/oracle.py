"""Answers what is right, without a model: the check of an environment and of its grading."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from learnloop.errors import ParameterError
from learnloop.methods.calls import CallKind, Outlook
from learnloop.methods.parts import Parts
from learnloop.types import Feedback, Prediction, Query, Task


class OracleSettings(BaseModel):
    """The parameters of `oracle`: none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Oracle:
    """Must be right on every query; where it is not, parser, grading or data are at fault.

    The right answer is read as a model's reply would be. No other method is told it.

    Args:
        task: How a reply is read.
        answer_key: Returns the right answer to a query.
    """

    Settings = OracleSettings
    needs_answers = True

    def __init__(self, *, task: Task, answer_key: Callable[[Query], str]) -> None:
        self.task = task
        self.answer_key = answer_key

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> Oracle:
        """Put the method together.

        Raises:
            ParameterError: The environment does not tell its answers.
        """
        OracleSettings.model_validate(params)
        if parts.answer_key is None:
            raise ParameterError(
                f"method 'oracle' needs the right answers, and {parts.task.name!r} does not tell "
                "them; take an environment that has `gold`"
            )
        return cls(task=parts.task, answer_key=parts.answer_key)

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return no call."""
        return ()

    def predict_one(self, query: Query) -> Prediction:
        gold = self.answer_key(query)
        return Prediction(query_id=query.id, text=self.task.parse(gold), raw=gold)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        """Learn nothing."""
