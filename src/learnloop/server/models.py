"""The language models of a server: each is opened at its first use, once, and where it listens."""

from __future__ import annotations

import threading

from learnloop.errors import InputError
from learnloop.llm.addresses import find_address
from learnloop.llm.endpoints import Address, Endpoints
from learnloop.llm.llama_cpp import LlamaCpp
from learnloop.llm.opening import open_model
from learnloop.protocols import LanguageModel
from learnloop.server.config import ServerConfig
from learnloop.settings import Settings


class Models:
    """Opens models by the names of the config. Safe to use from several threads.

    A local model takes seconds to open, so call this from a thread that may wait.

    Args:
        config: The endpoints that have names.
        settings: Where keys and model files are.
    """

    def __init__(self, config: ServerConfig, *, settings: Settings) -> None:
        self.settings = settings
        self.endpoints = Endpoints(config.endpoints)
        self._opened: dict[str, LanguageModel] = {}
        self._lock = threading.Lock()

    def open(self, name: str) -> LanguageModel:
        """Return the model of a name.

        Raises:
            InputError: It has no key, or is not on this machine.
        """
        with self._lock:
            if name not in self._opened:
                self._opened[name] = open_model(
                    name, settings=self.settings, endpoints=self.endpoints
                )
            return self._opened[name]

    def address(self, name: str) -> Address:
        """Return where the model of a name answers over HTTP; a local one is started for it.

        Raises:
            InputError: It has no key, is not on this machine, or answers inside a process only.
        """
        found = find_address(name, settings=self.settings, endpoints=self.endpoints)
        if found is not None:
            return found
        model = self.open(name)
        if not isinstance(model, LlamaCpp):
            raise InputError(
                f"the model {name!r} answers inside a process only; take local, or an endpoint"
            )
        return Address(base_url=f"{model.address}/v1", api_key=None, model=model.name)

    def close(self) -> None:
        """Give back what local models hold."""
        with self._lock:
            for model in self._opened.values():
                if isinstance(model, LlamaCpp):
                    model.close()
            self._opened.clear()
