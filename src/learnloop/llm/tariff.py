"""What so many tokens of a named model would cost, before any is spent."""

from __future__ import annotations

import genai_prices

from learnloop.llm.absent import NO_MODEL
from learnloop.llm.endpoints import OPENAI, Endpoints
from learnloop.llm.prices import cost_of
from learnloop.settings import Settings

FREE = ("local", "scripted", NO_MODEL)


class Tariff:
    """Knows prices by the name of a model, as the command line and the records use it.

    Args:
        settings: Where `openai/NAME` is.
        endpoints: Where other models are.

    Examples:
        >>> from learnloop.settings import read_settings
        >>> tariff = Tariff(settings=read_settings(), endpoints=Endpoints())
        >>> tariff.cost("local", tokens_in=1_000_000, tokens_out=1_000_000)
        0.0
    """

    def __init__(self, *, settings: Settings, endpoints: Endpoints) -> None:
        self.settings = settings
        self.endpoints = endpoints

    def cost(self, name: str, *, tokens_in: int, tokens_out: int) -> float | None:
        """Return the cost in US dollars; `None` where nobody knows, 0 on this machine."""
        kind, _, model = name.partition("/")
        if kind in FREE or name.startswith("file:"):
            return 0.0
        url = self._url(name)
        if url is None:
            return None
        usage = genai_prices.Usage(input_tokens=tokens_in, output_tokens=tokens_out)
        return cost_of(usage, model=name.partition("#")[2] or model, url=url)

    def missing_key(self, name: str) -> str | None:
        """Return the environment variable that a model needs and that is not set."""
        kind, _, model = name.partition("/")
        if kind == "openai" and model and self.settings.openai_api_key is None:
            return "OPENAI_API_KEY"
        return self.endpoints.missing_key(kind) if kind in self.endpoints else None

    def _url(self, name: str) -> str | None:
        if "://" in name:
            return name.partition("#")[0]
        kind = name.partition("/")[0]
        if kind == "openai":
            return self.settings.openai_base_url or OPENAI
        return self.endpoints.table[kind].base_url if kind in self.endpoints else None
