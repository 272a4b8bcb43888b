"""Checks the parameters that a person gave to a method or an environment before it is made."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from learnloop.errors import ParameterError


def check_params(
    what: str, factory: Callable[..., object], params: Mapping[str, object], *, given: int = 0
) -> None:
    """Raise unless the factory takes these parameters with values of these types.

    Args:
        what: Named in the error, for example `method drpg`.
        factory: A class or function with annotated keyword arguments.
        params: What is to be handed to it.
        given: How many leading arguments the caller hands over itself.

    Raises:
        ParameterError: The message names the parameter and what is known.

    Examples:
        >>> def square(*, width: int = 2) -> int: return width * width
        >>> check_params("shape square", square, {"width": 3})
        >>> check_params("shape square", square, {"with": 3})
        Traceback (most recent call last):
        ...
        learnloop.errors.ParameterError: shape square has no parameter 'with'; did you mean 'width'?
    """
    known = list(inspect.signature(factory).parameters.values())[given:]
    names = [parameter.name for parameter in known]
    for name in params:
        if name not in names:
            raise ParameterError(f"{what} has no parameter {name!r}; {_hint(name, names)}")
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    fields: dict[str, Any] = {name: (hints.get(name, Any), ...) for name in names if name in params}
    model = create_model("Params", __config__=_STRICT, **fields)
    try:
        model.model_validate(dict(params))
    except ValidationError as error:
        raise ParameterError(_explain(what, error)) from error


def _hint(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(sorted(names))}" if names else "it has none"


def _explain(what: str, error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{what}, parameter {first['loc'][0]}: {first['msg'].lower()}, got {first['input']!r}"


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
