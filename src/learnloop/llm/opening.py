"""Opens a language model by the name that the command line and the records use."""

from __future__ import annotations

import difflib
from pathlib import Path

from learnloop.errors import InputError, ModelFileError, UnknownNameError
from learnloop.fetching import file_sha256
from learnloop.llm.absent import NO_MODEL, AbsentModel
from learnloop.llm.catalog import CATALOG, CatalogEntry, find, missing
from learnloop.llm.download import get
from learnloop.llm.endpoints import OPENAI, Endpoints
from learnloop.llm.gguf import check_gguf
from learnloop.llm.llama_cpp import LlamaCpp
from learnloop.llm.scripted import SCRIPTS, scripted
from learnloop.protocols import LanguageModel
from learnloop.settings import Settings

FORMS = (
    "local, local/NAME, file:PATH.gguf, openai/NAME, nim/NAME, gemini/NAME, URL#NAME, "
    "scripted/NAME, none"
)


def open_model(
    name: str,
    *,
    settings: Settings,
    slots: int = 1,
    download: bool = False,
    endpoints: Endpoints | None = None,
) -> LanguageModel:
    """Return the named model, ready to answer. Models behind an endpoint come with retries.

    Args:
        name: `local` (the default local model), `local/NAME` (one of the catalog),
            `file:PATH.gguf`, `openai/NAME`, `ENDPOINT/NAME` (`nim`, `gemini`, or one of a study),
            `URL#NAME` (any endpoint that speaks the OpenAI format), `scripted/NAME`, or `none`
            (for runs that never call one).
        settings: Where model files are, and the key.
        slots: Calls that a local model may answer at once.
        download: Whether to fetch a local model that is not there.
        endpoints: Those that have names, with the limiters that all models opened with it share.

    Raises:
        UnknownNameError: There is no such model, or the name has none of these forms.
        ModelFileError: A model file is missing or broken.
        InputError: A key is missing.

    Examples:
        >>> from learnloop.settings import read_settings
        >>> open_model("scripted/static", settings=read_settings()).name
        'scripted/static'
    """
    kind, _, rest = name.partition("/")
    endpoints = endpoints or Endpoints()
    if name == NO_MODEL:
        return AbsentModel()
    if name.startswith("file:"):
        return _open_file(
            Path(name.removeprefix("file:")).expanduser(), settings=settings, slots=slots
        )
    if "://" in name:
        return _open_url(name, settings=settings, endpoints=endpoints)
    if name == "local" or (kind == "local" and rest):
        return _open_local(find(rest or name), settings=settings, slots=slots, download=download)
    if kind == "openai" and rest:
        return _open_openai(rest, settings=settings, endpoints=endpoints)
    if kind in endpoints and rest:
        return endpoints.open(kind, rest)
    if kind == "scripted" and rest:
        return scripted(rest)
    near = difflib.get_close_matches(name, model_names(settings), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"a model is one of {FORMS}"
    raise UnknownNameError(f"no model named {name!r}; {hint}")


def model_names(settings: Settings) -> list[str]:
    """Return the names that can be listed: the default first, `none` last.

    Models behind endpoints and model files of one's own are without number.
    """
    local = [f"local/{entry.name}" for entry in CATALOG]
    return ["local", *local, *(f"scripted/{script}" for script in SCRIPTS), NO_MODEL]


def _open_local(
    entry: CatalogEntry, *, settings: Settings, slots: int, download: bool
) -> LanguageModel:
    path = settings.models / entry.file
    if download and not path.is_file():
        path = get(entry, folder=settings.models)
    if not path.is_file():
        raise missing(entry, path)
    size = path.stat().st_size
    if size != entry.bytes:
        raise ModelFileError(
            f"{str(path)!r} is corrupt: it has {size:,} bytes, not {entry.bytes:,}; "
            f"get it again with `learnloop models get {entry.name}`"
        )
    return LlamaCpp(path, name=entry.identity, slots=slots, lanes=settings.lanes)


def _open_file(path: Path, *, settings: Settings, slots: int) -> LanguageModel:
    """Open a GGUF file that the catalog does not know; its hash makes its name."""
    check_gguf(path)
    name = f"file/{path.stem}@{file_sha256(path)[:8]}"
    return LlamaCpp(path, name=name, slots=slots, lanes=settings.lanes)


def _open_openai(model: str, *, settings: Settings, endpoints: Endpoints) -> LanguageModel:
    if settings.openai_api_key is None:
        raise InputError(
            f"the model 'openai/{model}' needs a key; set OPENAI_API_KEY, or use `local`"
        )
    return endpoints.open_address(
        base_url=settings.openai_base_url or OPENAI,
        api_key=settings.openai_api_key,
        model=model,
        name=f"openai/{model}",
    )


def _open_url(name: str, *, settings: Settings, endpoints: Endpoints) -> LanguageModel:
    url, _, model = name.partition("#")
    if not model or not url.startswith(("http://", "https://")):
        raise UnknownNameError(
            f"{name!r} does not say which model; write URL#NAME, "
            "for example http://127.0.0.1:8080/v1#my-model"
        )
    return endpoints.open_address(
        base_url=url, api_key=settings.openai_api_key, model=model, name=name
    )
