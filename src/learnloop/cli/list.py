"""`learnloop list`: the names that the other commands take."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from learnloop.control import GATES
from learnloop.editing import EDITORS
from learnloop.environments import ENVIRONMENTS
from learnloop.errors import UnknownNameError
from learnloop.llm.opening import model_names
from learnloop.memory import EMBEDDERS
from learnloop.methods import METHODS
from learnloop.runner.privileges import method_notes
from learnloop.settings import read_settings


def list_names(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="methods, environments, models, gates, editors or embedders."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the names of one kind; methods with a line on what each does.

    Example: learnloop list methods
    """
    if kind not in _NAMES:
        raise UnknownNameError(f"nothing called {kind!r} to list; known: {', '.join(_NAMES)}")
    names = list(_NAMES[kind]())
    if as_json:
        typer.echo(json.dumps(names))
        return
    width = max(map(len, names), default=0)
    for name in names:
        typer.echo(f"{name:<{width}}  {_method(name)}" if kind == "methods" else name)
    if not names:
        typer.echo(f"there are no {kind} yet", err=True)


def _method(name: str) -> str:
    """Return the sentence that a method's module opens with, and what readers must know of it."""
    method = METHODS.load(name)
    said = inspect.getdoc(inspect.getmodule(method)) or inspect.getdoc(method) or ""
    notes = [f"({note})" for note in method_notes(method)]
    return " ".join([said.partition("\n")[0], *notes])


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
