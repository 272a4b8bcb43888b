"""`learnloop list`: the names that the other commands take."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from learnloop.control import GATES
from learnloop.editing import EDITORS
from learnloop.environments import ENVIRONMENTS, default_seed
from learnloop.errors import UnknownNameError
from learnloop.llm.opening import model_names
from learnloop.memory import EMBEDDERS
from learnloop.methods import METHODS
from learnloop.params import names_of
from learnloop.runner.privileges import method_notes
from learnloop.settings import read_settings

PUBLISHED = "_published"
"""Ends the name of an edition that keeps the published structure and grading."""


def list_names(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="methods, environments, models, gates, editors or embedders."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the names of one kind; methods and environments with a line on what each is.

    The names in brackets after it are what --param (methods) and --set (environments) take.

    Example: learnloop list methods

    Example: learnloop list environments
    """
    if not kind:
        raise UnknownNameError(f"say what to list: {', '.join(_NAMES)}")
    if kind not in _NAMES:
        raise UnknownNameError(f"nothing called {kind!r} to list; known: {', '.join(_NAMES)}")
    names = list(_NAMES[kind]())
    if as_json:
        typer.echo(json.dumps(names))
        return
    width = max(map(len, names), default=0)
    describe = _LINES.get(kind)
    for name in names:
        typer.echo(f"{name:<{width}}  {describe(name)}" if describe else name)
    if not names:
        typer.echo(f"there are no {kind} yet", err=True)


def _method(name: str) -> str:
    """Return the sentence that a method's module opens with, and what readers must know of it."""
    method = METHODS.load(name)
    said = _first_line(inspect.getmodule(method)) or _first_line(method)
    notes = [f"({note})" for note in method_notes(method)]
    return " ".join([said, *notes, _names(names_of(method.from_parts, given=1))]).rstrip()


def _environment(name: str) -> str:
    """Return what a stream is, in which edition, and which seed is its own."""
    factory = ENVIRONMENTS.load(name)
    module = inspect.getmodule(factory)
    edition = name.removesuffix(PUBLISHED)
    own = module is not None and edition in module.__name__.split(".")
    said = _first_line(module if own else factory)
    if edition != name:
        said = f"{said.rstrip('.')}, as published, known defects included."
    seed = f"Seed {default_seed(name)}." if default_seed(name) else ""
    return " ".join(filter(None, [said, seed, _names(names_of(factory))]))


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _names(names: list[str]) -> str:
    return f"[{', '.join(names)}]" if names else ""


def _models() -> Iterable[str]:
    return model_names(read_settings())


_NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "methods": lambda: METHODS,
    "environments": lambda: ENVIRONMENTS,
    "models": _models,
    "gates": lambda: GATES,
    "editors": lambda: EDITORS,
    "embedders": lambda: EMBEDDERS,
}

_LINES: dict[str, Callable[[str], str]] = {"methods": _method, "environments": _environment}
