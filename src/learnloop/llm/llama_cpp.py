"""A GGUF model inside this process (llama.cpp through `xllamacpp`): no server, no key, no cost.

With one slot a reply depends on messages and options alone, bit by bit, never on the calls before
it. That takes care: reading a prompt in other portions changes the last bits of the scores, so a
cache that holds more or less of a prompt could change the text. Therefore the leading system
message, the constant part of a stream's prompts, is always read by itself first, whole, into a
lane of its own, and all that follows is read again in each call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from learnloop.errors import (
    ContextLengthError,
    LanguageModelError,
    MissingExtraError,
    ModelFileError,
    ModelRequestError,
    ModelServerError,
)
from learnloop.llm.chat_format import read_reply, request_body
from learnloop.llm.gguf import check_gguf
from learnloop.llm.lanes import Lane, Lanes
from learnloop.settings import let_native_threads_sleep
from learnloop.types import Message, Options, Reply

EXTRA_LANES = 3
FIRST_CALL = {"messages": [{"role": "user", "content": "."}], "max_tokens": 0, "id_slot": 0}
"""Made once, unheard: an engine that is closed before its loop runs would never end."""


class LlamaCpp:
    """Answers with a GGUF file.

    Args:
        path: The model file.
        name: What the model is called in records; it should identify the file's bytes.
        slots: Calls that may run at once. Only with one are replies the same bit by bit.
        context: Tokens that a prompt and its reply may take together.
        lanes: Constant prefixes that are kept read; three more than `slots` where `None`. A stream
            over many databases has one for each. With the default model one takes 0.23 GiB.
        threads: Threads to compute with; one a core where `None`. Another number gives other
            last bits, and may give another text.
        clock: Measures seconds.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        slots: int = 1,
        context: int = 8192,
        lanes: int | None = None,
        threads: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.name = name
        self.context = context
        self._clock = clock
        lanes = max(slots, lanes or slots + EXTRA_LANES)
        self._lanes = Lanes(slots=slots, lanes=lanes)
        self._server: Any = _load(path, context=context, lanes=lanes, threads=threads)

    @property
    def address(self) -> str:
        """URL of the engine's own endpoint, which listens on this machine alone."""
        return str(self._server.listening_address)

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        started = self._clock()
        body = request_body(messages, options)
        prefix = _constant_prefix(messages)
        with self._lanes.borrow(prefix) as lane:
            if prefix is not None:
                self._read_prefix(prefix, lane)
            answer = self._ask(body | {"id_slot": lane.number, "cache_prompt": prefix is not None})
        reply = read_reply(answer, seconds=self._clock() - started, cost=0.0)
        if lane.warm:
            return reply
        return replace(reply, usage=replace(reply.usage, tokens_cached=0))

    def close(self) -> None:
        """Give the model's memory back. Calls after this fail."""
        self._server = None

    def _read_prefix(self, prefix: str, lane: Lane) -> None:
        """Leave exactly the prefix in the lane, read in one go.

        The tail that an empty user message adds differs from that of every other prompt, so the
        next call keeps the prefix alone.
        """
        messages = [
            {"role": "system", "content": prefix},
            {"role": "user", "content": ""},
        ]
        self._ask(
            {
                "messages": messages,
                "max_tokens": 0,
                "id_slot": lane.number,
                "cache_prompt": lane.warm,
            }
        )

    def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._server is None:
            raise ModelServerError(f"model {self.name!r} was closed; open it again")
        try:
            answer: dict[str, Any] = self._server.handle_chat_completions(dict(body))
        except (ValueError, RuntimeError) as error:
            raise ModelRequestError(f"{self.name} refused the request: {error}") from error
        if "error" in answer:
            raise _typed_error(answer["error"], name=self.name)
        return answer


def _constant_prefix(messages: Sequence[Message]) -> str | None:
    """Return the leading system message, which a stream never changes."""
    if messages and messages[0].role == "system":
        return messages[0].content
    return None


def _load(path: Path, *, context: int, lanes: int, threads: int | None) -> Any:
    """Start the engine, without a word of its own on the terminal."""
    let_native_threads_sleep()
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError(
            "the local model needs the package 'xllamacpp'; install it with "
            "`pip install 'learnloop[local]'`, or give --model URL#NAME"
        ) from error
    check_gguf(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel = context * lanes, lanes
    if threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity, params.warmup, params.fit_params = -1, False, False
    params.cache_ram_mib, params.cache_idle_slots = 0, False
    params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
    try:
        server = xllamacpp.Server(params)
        server.handle_chat_completions(FIRST_CALL)
    except (RuntimeError, ValueError) as error:
        raise ModelFileError(
            f"{str(path)!r} cannot be loaded as a model; check it with `learnloop models check`, "
            f"or get it again"
        ) from error
    return server


def _typed_error(error: Mapping[str, Any], *, name: str) -> LanguageModelError:
    """Turn the engine's error into ours."""
    if error.get("type") == "exceed_context_size_error":
        return ContextLengthError(
            f"{error.get('n_prompt_tokens')} tokens do not fit the {error.get('n_ctx')} of "
            f"{name}; show fewer examples, or open it with a larger context"
        )
    message = f"{name}: {error.get('message')}"
    server_failed = int(error.get("code") or 500) >= 500
    return ModelServerError(message) if server_failed else ModelRequestError(message)
