"""Names for things that are made by name: one table per kind, loaded only when asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from learnloop.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Maps a public name to `"module:attribute"`, its own table first, then installed plugins.

    Examples:
        >>> shapes = Registry("shape", {"fraction": "fractions:Fraction"})
        >>> shapes.create("fraction", numerator=3)
        Fraction(3, 1)
        >>> shapes.create("fracton")
        Traceback (most recent call last):
        ...
        learnloop.errors.UnknownNameError: no shape named 'fracton'; did you mean 'fraction'?
    """

    def __init__(self, kind: str, table: Mapping[str, str], *, group: str | None = None) -> None:
        self.kind = kind
        self._table = dict(table)
        self._group = group

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._targets()))

    def create(self, name: str, **params: Any) -> T:
        """Load the named factory and call it."""
        factory = self.load(name)
        made: T = factory(**params)
        return made

    def load(self, name: str) -> Any:
        """Import and return the named factory without calling it."""
        targets = self._targets()
        if name not in targets:
            raise UnknownNameError(self._explain(name, list(targets)))
        module, _, attribute = targets[name].partition(":")
        return getattr(import_module(module), attribute)

    def _targets(self) -> dict[str, str]:
        plugins = entry_points(group=self._group) if self._group else ()
        return {point.name: point.value for point in plugins} | self._table

    def _explain(self, name: str, known: list[str]) -> str:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
        return f"no {self.kind} named {name!r}; {hint}"
