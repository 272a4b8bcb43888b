"""Vectors from any server with `/v1/embeddings`, hosted or local."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import openai
from pydantic import BaseModel, ValidationError

from learnloop.errors import (
    BadReplyError,
    ContextLengthError,
    LanguageModelError,
    ModelConnectionError,
    ModelRequestError,
    ModelServerError,
    ModelTimeoutError,
    RateLimitError,
)
from learnloop.protocols import Vectors
from learnloop.types import Call, Usage

TEXTS_PER_CALL = 256
TIMEOUT_SECONDS = 60.0
NO_KEY = "none"


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _Used(BaseModel):
    prompt_tokens: int = 0


class _Answer(BaseModel):
    data: list[_Row]
    usage: _Used | None = None


class OpenAICompatibleEmbedder:
    """Asks a server for vectors and brings them to length 1.

    Args:
        model: The server's name of the model.
        base_url: Address, up to and with `/v1`.
        api_key: What the server asks for, if it does.
        dimension: Length of the vectors; `None` finds out with one call when first needed.
        max_retries: How often a call is tried again when the server is busy or unreachable.
        on_call: Told of every call, for the ledger.
        clock: Counts seconds.

    Raises:
        LanguageModelError: A call gave no vectors.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str | None = None,
        dimension: int | None = None,
        max_retries: int = 4,
        on_call: Callable[[Call], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.model = model
        self.base_url = base_url
        self.on_call = on_call
        self.clock = clock
        self._dimension = dimension
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or NO_KEY,
            max_retries=max_retries,
            timeout=TIMEOUT_SECONDS,
        )

    @property
    def name(self) -> str:
        return self.model

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = self._ask(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [
            self._ask(texts[start : start + TEXTS_PER_CALL])
            for start in range(0, len(texts), TEXTS_PER_CALL)
        ]
        if not parts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate(parts)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str]) -> Vectors:
        start = self.clock()
        try:
            answer = self._read(self._post(texts))
            vectors = self._unit_vectors(answer, count=len(texts))
        except LanguageModelError as error:
            self._record(Usage(seconds=self.clock() - start), error=str(error))
            raise
        tokens = answer.usage.prompt_tokens if answer.usage else 0
        self._record(Usage(tokens_in=tokens, seconds=self.clock() - start))
        return vectors

    def _post(self, texts: Sequence[str]) -> object:
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        try:
            return self._client.post("/embeddings", body=body, cast_to=object)
        except openai.APIError as error:
            raise self._typed(error) from error
        except json.JSONDecodeError as error:
            raise BadReplyError(f"{self._place()} sent what is not JSON: {error}") from error

    def _read(self, reply: object) -> _Answer:
        try:
            return _Answer.model_validate(reply)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise BadReplyError(
                f"{self._place()} sent no embeddings: {where}: {first['msg']}"
            ) from error

    def _unit_vectors(self, answer: _Answer, *, count: int) -> Vectors:
        rows = sorted(answer.data, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(count)):
            raise BadReplyError(f"{self._place()} sent {len(rows)} vectors for {count} texts")
        dimension = self._dimension or len(rows[0].embedding)
        if {len(row.embedding) for row in rows} != {dimension}:
            raise BadReplyError(
                f"{self._place()} sent vectors of dimension {len(rows[0].embedding)}, "
                f"not {dimension}; is it still the same model?"
            )
        vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > 0)):
            raise BadReplyError(f"{self._place()} sent a vector without a direction")
        unit: Vectors = vectors / lengths
        return unit

    def _record(self, usage: Usage, *, error: str | None = None) -> None:
        if self.on_call is not None:
            self.on_call(Call(role="embed", model=self.name, usage=usage, error=error))

    def _typed(self, error: openai.APIError) -> LanguageModelError:
        told = f"{self._place()}: {error.message}"
        if isinstance(error, openai.APITimeoutError):
            return ModelTimeoutError(f"{told} (after {TIMEOUT_SECONDS:.0f} s)")
        if isinstance(error, openai.APIConnectionError):
            return ModelConnectionError(f"{told} Check that the server runs at this address.")
        if isinstance(error, openai.RateLimitError):
            return RateLimitError(told, retry_after=_seconds(error.response.headers))
        if isinstance(error, openai.InternalServerError):
            return ModelServerError(told)
        if error.code == "context_length_exceeded":
            return ContextLengthError(told)
        return ModelRequestError(told)

    def _place(self) -> str:
        return f"embedder {self.model!r} at {self._client.base_url}"


def _seconds(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None
