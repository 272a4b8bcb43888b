"""The versions of a persistent prompt: numbered, never changed, each with its parent and cause."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.errors import ParameterError
from learnloop.types import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of the prompt. `cause` is `initial`, `edit`, `roll_back` or `recall`."""

    prompt: Prompt
    cause: str


class PromptHistory:
    """Keeps every version; the newest is in force. A rollback is a new version with an old text.

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

    @property
    def current(self) -> Prompt:
        return self._versions[-1].prompt

    @property
    def versions(self) -> tuple[Version, ...]:
        """All versions, oldest first."""
        return tuple(self._versions)

    def deploy(self, text: str, *, cause: str) -> Prompt:
        number = len(self._versions)
        made = Prompt(version=number, text=text, parent=number - 1)
        self._versions.append(Version(prompt=made, cause=cause))
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
        if not 0 <= version < len(self._versions):
            raise ParameterError(
                f"no version {version!r} of the prompt; there are 0 to {len(self._versions) - 1}"
            )
        return self._versions[version].prompt

    def diff(self, old: int, new: int) -> str:
        """Return the lines that went and came from one version to another."""
        lines = difflib.unified_diff(
            self.get(old).text.splitlines(), self.get(new).text.splitlines(), lineterm="", n=0
        )
        changes = list(lines)[2:]  # after the names of the two files
        return "\n".join(line for line in changes if not line.startswith("@@"))
