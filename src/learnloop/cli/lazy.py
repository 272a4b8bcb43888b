"""Loads a command when it is asked for, so that none waits for what another one needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command


class LazyCommands(MutableMapping[str, Any]):
    """The commands of a group by name, each made from `"module:attribute"` the first time.

    The attribute is a function, or a group of commands of its own.

    Args:
        table: Where each is, in the order of the help page.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = dict(table)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(name, self._table[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._table.setdefault(name, "")
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._table[name]
        self._made.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def _make(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    loaded = getattr(import_module(module), attribute)
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    holder.callback()(_nothing)
    if isinstance(loaded, typer.Typer):
        holder.add_typer(loaded, name=name)
    else:
        holder.command(name)(loaded)
    group: Any = get_command(holder)
    return group.commands[name]


def _nothing() -> None:
    """Stand where a group has something to do of its own."""
