"""How what a part has learnt becomes JSON and is read again: with a version, nothing unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from learnloop.errors import StoreError


class State(BaseModel):
    """What one part has learnt; a part that learns has a state of its own with more fields.

    Examples:
        >>> State().written()
        {'version': 1}
        >>> State.read({"version": 1})
        State(version=1)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1

    @classmethod
    def read(cls, given: Mapping[str, object]) -> Self:
        """Read what `written` returned, also after a way through JSON.

        Raises:
            StoreError: It is damaged, or of another version.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StoreError(
                f"what was learnt cannot be read: {place}: {first['msg']}, got "
                f"{first['input']!r:.80}; it was written by another version of learnloop, for "
                "another method, or is damaged"
            ) from error

    def written(self) -> dict[str, object]:
        """Return it as values that JSON has."""
        return self.model_dump(mode="json")
