"""Reads `name=value` options."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable

from learnloop.errors import ParameterError
from learnloop.runner.spec import Params, Value


def read_assignments(option: str, texts: Iterable[str]) -> Params:
    """Return the parameters that an option was given, in the order given.

    A value is a number or a truth value where it looks like one, else text. Dashes in a name
    stand for underscores.

    Raises:
        ParameterError: There is no `=`, or a name twice.

    Examples:
        >>> read_assignments("--param", ["k=4", "policy-only=true", "writer=rules"])
        {'k': 4, 'policy_only': True, 'writer': 'rules'}
    """
    params: Params = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ParameterError(f"{option} wants NAME=VALUE, got {text!r}")
        if name in params:
            raise ParameterError(f"{option} has {name!r} twice")
        params[name] = _read_value(value.strip())
    return params


def _read_value(text: str) -> Value:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | float | str) else text
