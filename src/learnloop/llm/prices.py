"""What a call to a hosted model cost, in US dollars, where the price is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import genai_prices


def price(answer: Mapping[str, Any], *, model: str, url: str) -> float | None:
    """Return the cost of a chat completion, or `None` where nobody knows it.

    Examples:
        >>> usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
        >>> price({"usage": usage}, model="my-model", url="http://127.0.0.1:8080/v1") is None
        True
    """
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details") or {}
    counted = genai_prices.Usage(
        input_tokens=usage.get("prompt_tokens") or 0,
        cache_read_tokens=details.get("cached_tokens") or 0,
        output_tokens=usage.get("completion_tokens") or 0,
    )
    return cost_of(counted, model=model, url=url)


def cost_of(usage: genai_prices.Usage, *, model: str, url: str) -> float | None:
    """Return the cost of so many tokens of a model at an address, `None` where nobody knows it."""
    try:
        found = genai_prices.calc_price(usage, model, provider_api_url=url)
    except LookupError:
        return None
    return float(found.total_price)
