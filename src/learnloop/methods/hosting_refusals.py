"""Why a method, or some of its parameters, cannot serve an application that asks a model itself."""

from __future__ import annotations

from collections.abc import Mapping

from learnloop.methods import METHODS


def hosting_refusal(method: str, params: Mapping[str, object]) -> str | None:
    """Say why a method with these parameters cannot be hosted; `None` where it can.

    Nothing is opened or made for it. The parameters must be some that the method takes.

    Raises:
        UnknownNameError: There is no such method.

    Examples:
        >>> hosting_refusal("drpg", {})
        >>> hosting_refusal("drpg", {"writer": "contrastive"})
        "writer='contrastive' calls a model before each answer; take writer='rules'"
    """
    made_by = METHODS.load(method)
    if not hasattr(made_by, "advise"):
        return (
            f"{METHODS.resolve(method)!r} calls a model before or beside the answer, or needs what "
            "only a benchmark has; take another method"
        )
    refusal: str | None = getattr(made_by, "hosting_refusal", _no_refusal)(**params)
    return refusal


def _no_refusal(**params: object) -> None:
    """Host it with any parameters."""


def needs_a_model(name: str, value: str, other: str) -> str:
    """Say that a parameter has the method call a model before each answer."""
    return f"{name}={value!r} calls a model before each answer; take {name}={other!r}"


def needs_a_form(name: str, value: str, other: str) -> str:
    """Say that a parameter is for prompts that are read without a model."""
    return (
        f"{name}={value!r} is for a prompt with a form, which is read without a model, and that "
        f"of an application is free text; take {name}={other!r}"
    )


def reasoning_refusal(reasoning: bool) -> str | None:
    """Refuse to ask for reasoning, since an application asks its model itself."""
    if not reasoning:
        return None
    return (
        "asking for reasoning before the answer changes what the application asks its model; "
        "leave it off"
    )
