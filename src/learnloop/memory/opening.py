"""Opens embedders by the names that people write, and memories for them."""

from __future__ import annotations

from collections.abc import Callable

from learnloop.errors import UnknownNameError
from learnloop.memory import EMBEDDERS
from learnloop.memory.embedders.caching import CachingEmbedder
from learnloop.memory.in_memory import InMemoryStore
from learnloop.memory.memory import Memory
from learnloop.protocols import Embedder
from learnloop.settings import Settings
from learnloop.types import Call

OPENAI_URL = "https://api.openai.com/v1"
TEXTS_CACHED = 4096


def open_embedder(
    name: str, *, settings: Settings, on_call: Callable[[Call], None] | None = None
) -> Embedder:
    """Return the embedder of a name, with a cache of the last few thousand texts.

    Args:
        name: `wordllama`, `openai/NAME`, `URL#NAME` (any other server with `/v1/embeddings`),
            `sentence-transformers`, `sentence-transformers/NAME`, or the name of a plugin.
        settings: Where the key, and the address of `openai/NAME`, are.
        on_call: Told of every call to a server, for the ledger.

    Raises:
        UnknownNameError: There is no such embedder.
        MissingExtraError: It needs an extra that is not installed.

    Examples:
        >>> from learnloop.settings import read_settings
        >>> settings = read_settings()
        >>> open_embedder("wordllama", settings=settings).name
        'wordllama-l2-256'
        >>> open_embedder("http://127.0.0.1:8080/v1#bge-small", settings=settings).name
        'bge-small'
    """
    embedder = _open(name, settings=settings, on_call=on_call)
    return CachingEmbedder(embedder=embedder, size=TEXTS_CACHED)


def open_memory(embedder: Embedder) -> Memory:
    """Return an empty memory that lasts as long as the process."""
    store = InMemoryStore(embedder_name=embedder.name, dimension=embedder.dimension)
    return Memory(store=store, embedder=embedder)


def _open(name: str, *, settings: Settings, on_call: Callable[[Call], None] | None) -> Embedder:
    kind, _, model = name.partition("/")
    if "#" in name:
        address, _, model = name.partition("#")
    elif kind == "openai":
        address = settings.openai_base_url or OPENAI_URL
    else:
        return EMBEDDERS.create(kind, model=model) if model else EMBEDDERS.create(kind)
    if not model:
        raise UnknownNameError(f"no model is named in {name!r}; write openai/NAME or URL#NAME")
    key = settings.openai_api_key
    return EMBEDDERS.create("openai", model=model, base_url=address, api_key=key, on_call=on_call)
