"""The model `none`: for runs that have no use for one, and a clear end to those that have."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.errors import InputError
from learnloop.types import Message, Options, Reply

NO_MODEL = "none"


class AbsentModel:
    """Stands where a run has no model: predictors and editors of theory never call one.

    Examples:
        >>> AbsentModel().complete([], options=Options(role="edit"))
        Traceback (most recent call last):
        ...
        learnloop.errors.InputError: this run has the model 'none' and called a model for the \
role 'edit'; give --model, or a model in the study file
    """

    name = NO_MODEL

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        raise InputError(
            f"this run has the model {NO_MODEL!r} and called a model for the role "
            f"{options.role!r}; give --model, or a model in the study file"
        )
