"""Endpoints by name: where each is, which variable holds its key, what it bears and understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from learnloop.errors import InputError, ParameterError
from learnloop.llm.limiting import LEAST, Limited, Limiter
from learnloop.llm.retrying import Retrying
from learnloop.protocols import LanguageModel
from learnloop.registry import Registry
from learnloop.settings import read_key

NAME_PATTERN = r"^[a-z][a-z0-9_-]*$"
TAKEN = ("local", "openai", "scripted", "file", "none")
"""Words that begin the name of another kind of model."""


class Endpoint(BaseModel):
    """A server that speaks the OpenAI chat format. Holds no key, only where to look for it.

    Attributes:
        base_url: Where it is, up to `/chat/completions`.
        api_key_env: The environment variable that holds the key; `None` where it wants none.
        calls_a_minute: What may begin in a minute; `None` to find out.
        leave_out: Fields of a request that it refuses, such as `seed`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s@#?]+$")]
    api_key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    calls_a_minute: Annotated[float, Field(ge=LEAST)] | None = None
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an endpoint is, with its key, and what it calls one model."""

    base_url: str
    api_key: str | None = field(repr=False)
    model: str


OPENAI = "https://api.openai.com/v1"

ENDPOINTS: Mapping[str, Endpoint] = {
    "nim": Endpoint(
        base_url="https://integrate.api.nvidia.com/v1",
        api_key_env="NVIDIA_API_KEY",
    ),
    "gemini": Endpoint(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        api_key_env="GEMINI_API_KEY",
        leave_out=("seed",),
    ),
}
"""Those that need no entry in a study file: NVIDIA NIM, and the Gemini API of AI Studio."""


class Endpoints:
    """Opens models of named endpoints. All models of one address share one limiter.

    Args:
        given: Endpoints beside those of the table, or in their place.
        key_of: Returns what an environment variable holds.

    Raises:
        ParameterError: A name is that of another kind of model.

    Examples:
        >>> Endpoints(key_of=lambda variable: "secret").open("nim", "meta/llama").name
        'nim/meta/llama'
    """

    def __init__(
        self,
        given: Mapping[str, Endpoint] | None = None,
        *,
        key_of: Callable[[str], str | None] = read_key,
    ) -> None:
        for name in given or {}:
            if name in TAKEN:
                raise ParameterError(f"an endpoint cannot be called {name!r}; give another name")
        self.table = {**ENDPOINTS, **(given or {})}
        self.key_of = key_of
        self._lock = Lock()
        self._limiters: dict[str, Limiter] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.table

    def open(self, name: str, model: str) -> Retrying:
        """Return a model of the named endpoint.

        Raises:
            InputError: Its key is not there.
        """
        endpoint, address = self.table[name], self.address(name, model)
        return self.open_address(
            base_url=address.base_url,
            api_key=address.api_key,
            model=model,
            name=f"{name}/{model}",
            leave_out=endpoint.leave_out,
            calls_a_minute=endpoint.calls_a_minute,
        )

    def address(self, name: str, model: str) -> Address:
        """Return where a model of the named endpoint answers.

        Raises:
            InputError: Its key is not there.
        """
        endpoint = self.table[name]
        variable = self.missing_key(name)
        if variable is not None:
            raise InputError(
                f"the model '{name}/{model}' needs a key; set {variable}, or use `local`"
            )
        key = self.key_of(endpoint.api_key_env) if endpoint.api_key_env else None
        return Address(base_url=endpoint.base_url, api_key=key, model=model)

    def missing_key(self, name: str) -> str | None:
        """Return the variable of an endpoint's key where that is not set; `None` where all is."""
        variable = self.table[name].api_key_env
        return variable if variable is not None and not self.key_of(variable) else None

    def open_address(
        self,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        name: str,
        leave_out: Sequence[str] = (),
        calls_a_minute: float | None = None,
    ) -> Retrying:
        """Return a model at an address, with retries, and beneath them the address's limiter."""
        with self._lock:
            limiter = self._limiters.get(base_url)
            if limiter is None:
                limiter = Limiter(calls_a_minute=calls_a_minute)
                self._limiters[base_url] = limiter
        client: LanguageModel = _CLIENTS.load("openai_compatible")(
            base_url=base_url,
            api_key=api_key,
            model=model,
            name=name,
            leave_out=leave_out,
        )
        return Retrying(Limited(client, limiter))


_CLIENTS: Registry[LanguageModel] = Registry(
    "client", {"openai_compatible": "learnloop.llm.openai_compatible:OpenAICompatible"}
)
"""Loaded when a model is opened: the SDK takes a second, for which no other command should wait."""
