"""What a run is, in full: frozen, hashed, and named after what matters."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from learnloop.errors import ParameterError

Value = bool | int | float | str
Params = dict[str, Value]


class RunSpec(BaseModel):
    """One method on one environment, with one seed. Equal specs are equal runs.

    Attributes:
        policy_model: Name of the model that writes policies and edits; `None`: the same one.
        agents: Names of models that answer beside `model`, for a method of several agents. Where
            there are none they are left out of the hash, as in runs that were made before they
            could be named.
        steps: Number of queries; `None`: the whole stream.
        feedback: What of the feedback arrives, for example `binary` or `comment,correction=0.5`.
        embedder: Name of what turns texts into vectors.
        label: What reports call the method with these parameters; `None`: its own name.

    Examples:
        >>> spec = RunSpec(environment="house_rules", method="zero_shot", steps=3)
        >>> spec.run_id.rpartition("-")[0]
        'house_rules-zero_shot-binary-seed0'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    environment: str
    environment_params: Params = Field(default_factory=dict)
    method: str
    method_params: Params = Field(default_factory=dict)
    model: str = "local"
    policy_model: str | None = None
    agents: list[str] = Field(default_factory=list)
    steps: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    feedback: str = "binary"
    embedder: str = "wordllama"
    label: str | None = None

    @model_serializer(mode="wrap")
    def _leave_out_no_agents(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = write(self)
        return fields if self.agents else {n: v for n, v in fields.items() if n != "agents"}

    @property
    def hash(self) -> str:
        """The sha256 of the spec as canonical JSON."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def run_id(self) -> str:
        """A readable name; the short hash at its end tells apart what the words do not."""
        method = self.label or self.method
        words = [self.environment, method, self.feedback, f"seed{self.seed}", self.hash[:8]]
        return "-".join(_slug(word) for word in words)


def make_spec(**fields: Any) -> RunSpec:
    """Make a spec from what a person wrote.

    Raises:
        ParameterError: A field is unknown or out of range; the message names it.
    """
    try:
        return RunSpec(**fields)
    except ValidationError as error:
        raise ParameterError("; ".join(_explain(problem) for problem in error.errors())) from error


def changed_fields(old: Mapping[str, object], new: RunSpec) -> list[str]:
    """Return a line for each field in which a recorded spec differs from a new one.

    Examples:
        >>> spec = RunSpec(environment="shop", method="drpg")
        >>> changed_fields(spec.model_dump() | {"seed": 1}, spec)
        ['seed: was 1, now 0']
    """
    now = new.model_dump()
    names = [*now, *(name for name in old if name not in now)]
    return [
        f"{name}: was {old.get(name)!r}, now {now.get(name)!r}"
        for name in names
        if old.get(name) != now.get(name)
    ]


def _explain(problem: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in problem["loc"] if not _is_branch(part))
    return f"{where}: {problem['msg'].lower()}, got {problem['input']!r}"


def _is_branch(part: object) -> bool:
    return part in ("bool", "int", "float", "str")


def _slug(text: str) -> str:
    return re.sub(r"[^\w.=+-]+", "+", text).strip("+")
