"""Checks the parameters that a person gave to a method or an environment before it is made."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from learnloop.errors import ParameterError
from learnloop.registry import Registry, split_params


def check_params(
    what: str, factory: Callable[..., object], params: Mapping[str, object], *, given: int = 0
) -> None:
    """Raise unless the factory takes these parameters with values of these types.

    A class method of a class with `Settings` (a pydantic model) takes the fields of that model.
    Where the class has `parts_by_name` (registries), a parameter `gate.threshold` is one of the
    gate that the parameter `gate` names.

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
    own, nested = split_params(params, _parts_by_name(factory))
    hints = _hints(factory, given)
    for name in own:
        if name not in hints:
            raise ParameterError(f"{what} has no parameter {name!r}; {_hint(name, list(hints))}")
    fields: dict[str, Any] = {name: (hints[name], ...) for name in own}
    model = create_model("Params", __config__=_STRICT, **fields)
    try:
        model.model_validate(own)
    except ValidationError as error:
        raise ParameterError(_explain(what, error)) from error
    for part, registry in _parts_by_name(factory).items():
        _check_part(part, registry, chosen=_chosen(factory, own, part), params=nested[part])


def names_of(factory: Callable[..., object], *, given: int = 0) -> list[str]:
    """Return the names of the parameters that a factory takes from a person, as for the check.

    Examples:
        >>> def square(*, width: int = 2) -> int: return width * width
        >>> names_of(square)
        ['width']
    """
    return list(_hints(factory, given))


def _check_part(
    part: str, registry: Registry[object], *, chosen: str, params: Mapping[str, object]
) -> None:
    """Check the parameters of a part that is chosen by name."""
    if chosen == NO_PART:
        if params:
            raise ParameterError(
                f"{part} is {NO_PART!r} and takes no parameter {next(iter(params))!r}"
            )
        return
    loaded = registry.load(chosen)
    factory = getattr(loaded, "from_parts", loaded)
    check_params(f"{part} {chosen}", factory, params, given=int(factory is not loaded))


def _chosen(factory: Callable[..., object], own: Mapping[str, object], part: str) -> str:
    settings: Any = getattr(getattr(factory, "__self__", None), "Settings", None)
    return str(own.get(part, settings.model_fields[part].default))


def _parts_by_name(factory: Callable[..., object]) -> Mapping[str, Registry[object]]:
    """Return the registries of the parts that a method takes by name (`gate`, `editor`)."""
    return getattr(getattr(factory, "__self__", None), "parts_by_name", {})


def _hints(factory: Callable[..., object], given: int) -> dict[str, Any]:
    """Return the type of each parameter: of the signature, or of the `Settings` it stands for."""
    settings = getattr(getattr(factory, "__self__", None), "Settings", None)
    if inspect.isclass(settings) and issubclass(settings, BaseModel):
        fields = get_type_hints(settings, include_extras=True)
        return {name: fields[name] for name in settings.model_fields}
    names = list(inspect.signature(factory).parameters)[given:]
    target = factory.__init__ if inspect.isclass(factory) else factory
    hints = get_type_hints(target, include_extras=True)
    return {name: hints.get(name, Any) for name in names}


def _hint(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(sorted(names))}" if names else "it has none"


def _explain(what: str, error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{what}, parameter {first['loc'][0]}: {first['msg'].lower()}, got {first['input']!r}"


NO_PART = "none"

_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
