"""The library textgrad, loaded without its side effects, and the engine it calls our models by."""

from __future__ import annotations

import re
import tempfile
import threading
from typing import Any

from learnloop.errors import EditingError, MissingExtraError
from learnloop.protocols import LanguageModel
from learnloop.settings import variables_for_import
from learnloop.types import Message, Options


class RoleEngine:
    """Makes the calls of one role for textgrad, which takes any callable for an engine.

    The engines that textgrad brings keep replies on disk; this one keeps the last one only.

    Args:
        model: Answers.
        options: How; the role among them.
        evidence: The end of the system prompt that is data: it is sent in the user's turn.
        request: Put after what textgrad asks.
    """

    def __init__(
        self, *, model: LanguageModel, options: Options, evidence: str = "", request: str = ""
    ) -> None:
        self.model = model
        self.options = options
        self.evidence = evidence
        self.request = request
        self._reply: str | None = None

    @property
    def reply(self) -> str | None:
        """What the model said last, without its thinking; `None` before the first reply."""
        return self._reply

    def __call__(self, prompt: str, *, system_prompt: str) -> str:
        asked = f"{self.evidence}{prompt}{self.request}"
        messages = (
            Message(role="system", content=system_prompt.removesuffix(self.evidence)),
            Message(role="user", content=asked.strip()),
        )
        self._reply = without_thinking(self.model.complete(messages, options=self.options).text)
        return self._reply


def without_thinking(text: str) -> str:
    """Return the text without what stands in `<think>`, whose tags may be half missing.

    Examples:
        >>> without_thinking("<think>which tag?</think>Blue")
        'Blue'
        >>> without_thinking("which tag?</think>Blue"), without_thinking("<think>which")
        ('Blue', '')
    """
    return _THINKING.sub("", text)


def load_textgrad() -> Any:
    """Return the module textgrad, with its logger off and nothing of its import left behind.

    It would log every message to a file in the working directory, ask the network for prices,
    and read a `.env` file into the environment.

    Raises:
        MissingExtraError: textgrad is not installed.
        EditingError: Other code of this process gave textgrad an engine for all.
    """
    with _LOADING, tempfile.TemporaryDirectory() as directory:
        textgrad = _import_textgrad(directory)
    if textgrad.SingletonBackwardEngine().get_engine() is not None:
        raise EditingError(
            "textgrad has a backward engine for the whole process, and refuses any other; "
            "do not call textgrad.set_backward_engine where the editor 'textgrad' is used"
        )
    return textgrad


def _import_textgrad(log_directory: str) -> Any:
    try:
        with variables_for_import(TEXTGRAD_LOG_DIR=log_directory, **_QUIET):
            import textgrad  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError(
            "the editor 'textgrad' needs the package 'textgrad'; install it with "
            "`pip install 'learnloop[optimizers]'`, or take another editor"
        ) from error
    for handler in tuple(textgrad.logger.handlers):
        textgrad.logger.removeHandler(handler)
        handler.close()
    textgrad.logger.disabled = True
    return textgrad


_LOADING = threading.Lock()

_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
"""For litellm, which textgrad imports: no request for prices, no reading of a `.env` file."""

_THINKING = re.compile(r"\A(?:(?!<think>).)*</think>|<think>.*?(?:</think>|\Z)", re.DOTALL)
