"""What a method is handed of an environment beside queries: demonstrations, and never answers.

The only exception is a method whose class declares `needs_answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from learnloop.control.sensors import parse_feedback
from learnloop.errors import ParameterError
from learnloop.methods import METHODS
from learnloop.protocols import Environment
from learnloop.runner.spec import RunSpec
from learnloop.types import Episode, Query

NOTES = {
    "needs_answers": "the method is told the right answers",
    "shows_wrong_answers": "the answering model is shown wrong answers",
}
"""What readers of a result must know of a method that declares one of these."""


UNHEARD = "the method writes policies from comments, and none arrive"


def check_privileges(spec: RunSpec, environment: Environment) -> None:
    """Raise unless the method and the environment go together, and the agents with the method.

    Raises:
        ParameterError: The method needs answers or demonstrations that the environment does not
            give, or takes no agents.
    """
    method = METHODS.load(spec.method)
    if declares(method, "needs_answers") and answer_key(method, environment) is None:
        raise ParameterError(
            f"method {spec.method!r} needs the right answers, and environment "
            f"{spec.environment!r} does not tell them; take a benchmark, such as 'spider'"
        )
    if declares(method, "needs_demonstrations") and demonstrations(environment) is None:
        raise ParameterError(
            f"method {spec.method!r} needs demonstrations, and environment {spec.environment!r} "
            "has none; take another one, or a method that learns its examples"
        )
    if spec.agents and not declares(method, "takes_agents"):
        raise ParameterError(
            f"method {spec.method!r} takes no agents, got {spec.agents!r}; leave them out, or "
            "take a method of several agents such as 'mam_stream_icl'"
        )
    if len({spec.model, *spec.agents}) != 1 + len(spec.agents):
        raise ParameterError(
            f"model {spec.model!r} and agents {spec.agents!r} must all be different models"
        )


def answer_key(method: object, environment: Environment) -> Callable[[Query], str] | None:
    """Return what tells the right answers, for a method that declares that it needs them."""
    if not declares(method, "needs_answers"):
        return None
    told: Callable[[Query], str] | None = getattr(environment, "gold", None)
    return told


def demonstrations(environment: Environment) -> Callable[[int], Sequence[Episode]] | None:
    """Return what gives right episodes that are not in the stream, where the environment has it."""
    given: Callable[..., Sequence[Episode]] | None = getattr(environment, "demonstrations", None)
    return None if given is None else lambda k: given(k=k)


def method_notes(method: object) -> list[str]:
    """Return what readers of a result must know of its method."""
    return [text for name, text in NOTES.items() if declares(method, name)]


def silence_notes(spec: RunSpec) -> list[str]:
    """Return what readers must know where a method waits for feedback that does not arrive."""
    writes = getattr(METHODS.load(spec.method), "writes_from_comments", None)
    mute = writes is not None and writes(**spec.method_params)
    return [UNHEARD] if mute and not parse_feedback(spec.feedback).comment else []


def declares(method: object, name: str) -> bool:
    """Whether a method's class says of itself that it does what others must not."""
    return bool(getattr(method, name, False))
