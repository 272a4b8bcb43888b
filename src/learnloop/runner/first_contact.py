"""Tells a model that was never there from one that fails now and then."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.errors import InputError, LanguageModelError, ModelConnectionError
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options, Reply

TURNED_AWAY = (401, 403, 404)
"""What a server answers to a wrong key or an unknown model."""


class FirstContact:
    """Ends the run, rather than failing each step, where the model was not reached even once.

    A failure of the first calls is the caller's to mend (an address, a key, a name), so that it
    is neither recorded nor kept in the cache of responses. Afterwards failures pass as they are.

    Args:
        model: Whom to ask.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self._reached = False

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        try:
            reply = self.model.complete(messages, options=options)
        except LanguageModelError as error:
            if not self._reached and _is_for_the_caller(error):
                raise InputError(f"the model cannot be used: {error}") from error
            raise
        self._reached = True
        return reply


def _is_for_the_caller(error: LanguageModelError) -> bool:
    status = getattr(error.__cause__, "status_code", None)
    return isinstance(error, ModelConnectionError) or status in TURNED_AWAY
