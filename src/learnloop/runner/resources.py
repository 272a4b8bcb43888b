"""What the runs of one command share: the models that are open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from learnloop.fetching import file_sha256
from learnloop.llm.catalog import check, find
from learnloop.llm.endpoints import Endpoint, Endpoints
from learnloop.llm.gguf import check_gguf
from learnloop.llm.metered import Ledger
from learnloop.llm.opening import open_model
from learnloop.memory.opening import open_embedder
from learnloop.protocols import Embedder, LanguageModel
from learnloop.settings import Settings
from learnloop.types import Call


class Resources:
    """Opens each model once, when first asked for. Safe to call from several threads.

    Args:
        settings: Where models are, and the keys to them.
        slots: How many calls of a local model may be under way at once.
        endpoints: Endpoints that have a name, beside those that always have.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        slots: int = 1,
        endpoints: Mapping[str, Endpoint] | None = None,
    ) -> None:
        self.settings = settings
        self.slots = slots
        self.endpoints = Endpoints(endpoints)
        self._lock = Lock()
        self._models: dict[str, LanguageModel] = {}
        self._hashes: dict[str, str | None] = {}

    def model(self, name: str) -> LanguageModel:
        """Return the model of that name, as it answers without any cache."""
        with self._lock:
            if name not in self._models:
                self._models[name] = open_model(
                    name, settings=self.settings, slots=self.slots, endpoints=self.endpoints
                )
            return self._models[name]

    def model_sha256(self, name: str) -> str | None:
        """Return the sha256 of a model's file, read byte for byte; `None` where it has no file.

        Raises:
            ModelFileError: It is not the file that the catalog knows under that name.
        """
        with self._lock:
            if name not in self._hashes:
                self._hashes[name] = self._read_hash(name)
            return self._hashes[name]

    def _read_hash(self, name: str) -> str | None:
        if name == "local" or name.startswith("local/"):
            entry = find(name)
            check(entry, self.settings.models / entry.file)
            return entry.sha256
        if name.startswith("file:"):
            path = Path(name.removeprefix("file:")).expanduser()
            check_gguf(path)
            return file_sha256(path)
        return None

    def embedder(self, name: str, ledger: Ledger) -> Embedder:
        """Return an embedder whose calls, where it makes any, go into the ledger of one run."""
        return open_embedder(name, settings=self.settings, on_call=_into(ledger))


def _into(ledger: Ledger) -> Callable[[Call], None]:
    def enter(call: Call) -> None:
        ledger.reserve(tokens=0)
        ledger.settle(call, tokens=0)

    return enter
