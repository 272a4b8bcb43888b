"""Keeps every reply in a SQLite file and gives it again for the same question.

What is in the file is the record of what a model said: a run made again over it replays, also
for models that would answer otherwise the second time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from learnloop.errors import LanguageModelError
from learnloop.llm.responses import Responses
from learnloop.protocols import LanguageModel
from learnloop.types import CallRole, Message, Options, Reply

HALTING: tuple[CallRole, ...] = ("edit", "loss", "backward", "reflect")
"""Roles of an editor's calls: a run does not go on after one that failed."""


class Cached:
    """Asks a model only what was not asked before.

    Args:
        model: Whom to ask. Its name is part of the key.
        path: The file, shared with other threads and processes if need be; in memory if `None`.
        failure_scope: Name of a run. Failures are kept under it too, and raised again for the
            same question of the same run, so that a run made again fails at the same steps; other
            runs over the same file ask anew. Failures are not kept where it is `None`, nor those
            of an editor's calls: they halt the run, and gone on with it must ask anew.
    """

    def __init__(
        self, model: LanguageModel, path: Path | None, *, failure_scope: str | None = None
    ) -> None:
        self.model = model
        self.path = path
        self.failure_scope = failure_scope
        self._responses = Responses(path)

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        key = cache_key(self.name, messages, options)
        kept = self._responses.find(key, scope=self.failure_scope)
        if isinstance(kept, LanguageModelError):
            raise kept
        if kept is not None:
            return replace(kept, replayed=True)
        try:
            reply = self.model.complete(messages, options=options)
        except LanguageModelError as error:
            if self.failure_scope is not None and options.role not in HALTING:
                self._responses.add_failure(key, error, scope=self.failure_scope)
            raise
        return self._responses.add(key, reply, model=self.name)

    def close(self) -> None:
        """Close the file."""
        self._responses.close()


def cache_key(name: str, messages: Sequence[Message], options: Options) -> str:
    """Return the key of a question: a hash of all that the reply may depend on.

    That is the model's name, the messages, and every option but the role, which says what a call
    is for and never reaches the model. The order of a schema's properties counts, since a model
    writes them in that order.
    """
    asked = asdict(options)
    del asked["role"]
    content = [name, [[message.role, message.content] for message in messages], asked]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
