"""Names for things that are made by name: one table per kind, loaded only when asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from learnloop.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Maps a public name to `"module:attribute"`, its own table first, then installed plugins.

    A name may be given with dashes for underscores, or the other way round.

    Examples:
        >>> shapes = Registry("shape", {"fraction": "fractions:Fraction"})
        >>> shapes.create("fraction", numerator=3)
        Fraction(3, 1)
        >>> shapes.create("fracton")
        Traceback (most recent call last):
        ...
        learnloop.errors.UnknownNameError: no shape named 'fracton'; did you mean 'fraction'?
        >>> Registry("shape", {"big_square": "fractions:Fraction"}).resolve("big-square")
        'big_square'
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
        module, _, attribute = self._targets()[self.resolve(name)].partition(":")
        return getattr(import_module(module), attribute)

    def resolve(self, name: str) -> str:
        """Return the name as it is registered.

        Raises:
            UnknownNameError: There is none; the message has a suggestion.
        """
        targets = self._targets()
        spelt = {_plain(known): known for known in targets}
        found = name if name in targets else spelt.get(_plain(name))
        if found is None:
            raise UnknownNameError(self._explain(name, list(targets)))
        return found

    def _targets(self) -> Mapping[str, str]:
        return {**_plugins(self._group), **self._table} if self._group else self._table

    def _explain(self, name: str, known: list[str]) -> str:
        if not known:
            return f"no {self.kind} named {name!r}; there is none yet"
        near = difflib.get_close_matches(_plain(name), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
        return f"no {self.kind} named {name!r}; {hint}"


def split_params(
    params: Mapping[str, object], parts: Iterable[str]
) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """Tell the parameters of what is made from those of its parts, which are written `part.name`.

    Examples:
        >>> split_params({"gate": "cusum", "gate.threshold": 3, "k": 8}, ["gate", "editor"])
        ({'gate': 'cusum', 'k': 8}, {'gate': {'threshold': 3}, 'editor': {}})
    """
    own: dict[str, object] = {}
    nested: dict[str, dict[str, object]] = {part: {} for part in parts}
    for name, value in params.items():
        part, dot, field = name.partition(".")
        if dot and part in nested:
            nested[part][field] = value
        else:
            own[name] = value
    return own, nested


@cache
def _plugins(group: str) -> Mapping[str, str]:
    """Return what installed packages offer; to look through them all takes milliseconds."""
    return {point.name: point.value for point in entry_points(group=group)}


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
