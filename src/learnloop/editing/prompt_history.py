"""The versions of a persistent prompt: numbered, never changed, each with its parent and cause."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from learnloop.errors import ParameterError
from learnloop.states import State
from learnloop.types import Prompt

KEPT = 1000
"""So many of the newest versions can be read and restored; numbers go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of the prompt.

    `cause` is `initial`, `edit`, `roll_back`, `recall`, or `by hand`.
    """

    prompt: Prompt
    cause: str


class PromptState(State):
    """All that a history knows."""

    versions: tuple[Version, ...] = Field(min_length=1)
    pinned: bool


class PromptHistory:
    """Keeps the versions; the newest is in force. A rollback is a new version with an old text.

    Args:
        text: What version 0 says.

    Examples:
        >>> history = PromptHistory("even: Red")
        >>> history.deploy("even: Blue", cause="edit")
        Prompt(version=1, text='even: Blue', parent=0)
        >>> history.restore(0, cause="roll_back")
        Prompt(version=2, text='even: Red', parent=1)
        >>> print(history.diff(0, 1))
        -even: Red
        +even: Blue
    """

    def __init__(self, text: str) -> None:
        self._versions = [Version(prompt=Prompt(version=0, text=text), cause="initial")]
        self._pinned = False

    @property
    def current(self) -> Prompt:
        return self._versions[-1].prompt

    @property
    def pinned(self) -> bool:
        return self._pinned

    @property
    def versions(self) -> tuple[Version, ...]:
        """The versions that are kept, oldest first."""
        return tuple(self._versions)

    def pin(self, *, pinned: bool = True) -> None:
        """Say whether only a person may put another version in force."""
        self._pinned = pinned

    def deploy(self, text: str, *, cause: str) -> Prompt:
        parent = self.current.version
        made = Prompt(version=parent + 1, text=text, parent=parent)
        self._versions = [*self._versions, Version(prompt=made, cause=cause)][-KEPT:]
        return made

    def restore(self, version: int, *, cause: str) -> Prompt:
        return self.deploy(self.get(version).text, cause=cause)

    def earlier(self) -> Sequence[Prompt]:
        return [version.prompt for version in reversed(self._versions[:-1])]

    def get(self, version: int) -> Prompt:
        """Return one version.

        Raises:
            ParameterError: There is none of that number.
        """
        first, last = self._versions[0].prompt.version, self.current.version
        if not first <= version <= last:
            raise ParameterError(
                f"no version {version!r} of the prompt; there are {first} to {last}"
            )
        return self._versions[version - first].prompt

    def diff(self, old: int, new: int) -> str:
        """Return the lines that went and came from one version to another."""
        lines = difflib.unified_diff(
            self.get(old).text.splitlines(), self.get(new).text.splitlines(), lineterm="", n=0
        )
        changes = list(lines)[2:]  # after the names of the two files
        return "\n".join(line for line in changes if not line.startswith("@@"))

    def state(self) -> dict[str, object]:
        """Return all versions that are kept, as values that JSON has."""
        return PromptState(versions=self.versions, pinned=self._pinned).written()

    def take_over(self, state: Mapping[str, object]) -> None:
        """Go on from the state of another history, whatever was in this one.

        Raises:
            StoreError: It cannot be read.
        """
        read = PromptState.read(state)
        self._versions = list(read.versions)
        self._pinned = read.pinned
