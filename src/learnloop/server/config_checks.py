"""Checks of a config's words that need no model: endpoints, model names, methods, parameters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from learnloop.errors import ParameterError, UnknownNameError
from learnloop.llm.absent import NO_MODEL
from learnloop.llm.catalog import find
from learnloop.llm.endpoints import ENDPOINTS, TAKEN, Endpoint
from learnloop.llm.opening import FORMS
from learnloop.methods import METHODS
from learnloop.methods.hosting_refusals import hosting_refusal
from learnloop.params import check_params


def check_endpoints(endpoints: Mapping[str, Endpoint]) -> None:
    """Refuse an endpoint under a name that begins another kind of model.

    Raises:
        ParameterError: There is one; the message names it.
    """
    for name in endpoints:
        if name in TAKEN:
            raise ParameterError(
                f"endpoints.{name}: an endpoint cannot be called {name!r}; give another name"
            )


def check_model(place: str, name: str, endpoints: Mapping[str, Endpoint]) -> None:
    """Refuse what cannot be the name of a model; whether it answers is found out later.

    Raises:
        ParameterError: It has none of the forms; the message names the place in the file.
    """
    kind, _, rest = name.partition("/")
    if "://" in name:
        url, _, model = name.partition("#")
        good = bool(model) and url.startswith(("http://", "https://"))
    elif kind == "local" and rest:
        good = _is_local(place, rest)
    elif name.startswith("file:"):
        good = name != "file:"
    else:
        known = {"openai", "scripted", *ENDPOINTS, *endpoints}
        good = name == "local" or (kind in known and bool(rest))
    if not good or name == NO_MODEL:
        raise ParameterError(
            f"{place}: no model named {name!r}; a model is one of {FORMS}, "
            "and NAME of [endpoints.NAME] goes before a slash"
        )


def check_hosted(place: str, method: str, params: Mapping[str, object]) -> None:
    """Refuse a method that is unknown, cannot be hosted, or does not take the parameters.

    Raises:
        ParameterError: The message names the place in the file.
    """
    try:
        name = METHODS.resolve(method)
    except UnknownNameError as error:
        raise ParameterError(f"{place}.method: {error}") from error
    factory: Any = METHODS.load(name).from_parts
    check_params(f"{place}.params: method {name}", factory, params, given=1)
    refusal = hosting_refusal(name, params)
    if refusal is not None:
        raise ParameterError(f"{place}.method: {refusal}")


def _is_local(place: str, name: str) -> bool:
    try:
        return bool(find(name))
    except UnknownNameError as error:
        raise ParameterError(f"{place}: {error}") from error


def near(name: str, names: Sequence[str]) -> str:
    """Suggest a name for a misspelt one, or say what there is.

    Examples:
        >>> near("modle", ["model", "method"])
        "did you mean 'model'?"
    """
    found = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {found[0]!r}?" if found else f"there are {', '.join(names)}"
