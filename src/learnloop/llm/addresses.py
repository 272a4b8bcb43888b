"""Where a model of a name answers over HTTP, for a program that passes requests on to it."""

from __future__ import annotations

from learnloop.errors import InputError
from learnloop.llm.endpoints import OPENAI, Address, Endpoints
from learnloop.settings import Settings


def find_address(name: str, *, settings: Settings, endpoints: Endpoints) -> Address | None:
    """Return the address of a model; `None` for one that is opened inside a process.

    Args:
        name: As `open_model` takes it.
        settings: Where the key of OpenAI is.
        endpoints: Those that have names.

    Raises:
        InputError: Its key is not there.

    Examples:
        >>> from learnloop.settings import read_settings
        >>> found = find_address(
        ...     "http://127.0.0.1:8080/v1#small", settings=read_settings(), endpoints=Endpoints()
        ... )
        >>> found.base_url, found.model
        ('http://127.0.0.1:8080/v1', 'small')
    """
    kind, _, rest = name.partition("/")
    if name.startswith("file:"):
        return None
    if "://" in name:
        url, _, model = name.partition("#")
        return Address(base_url=url, api_key=settings.openai_api_key, model=model)
    if kind == "openai":
        if settings.openai_api_key is None:
            raise InputError(f"the model {name!r} needs a key; set OPENAI_API_KEY")
        url = settings.openai_base_url or OPENAI
        return Address(base_url=url, api_key=settings.openai_api_key, model=rest)
    return endpoints.address(kind, rest) if kind in endpoints else None
