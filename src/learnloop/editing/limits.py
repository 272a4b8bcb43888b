"""What numbers the editors take: limits, each of at least 1."""

from __future__ import annotations

from learnloop.errors import ParameterError


def check_limits(editor: str, **limits: int) -> None:
    """Raise unless each limit of an editor is at least 1.

    Raises:
        ParameterError: One is not.

    Examples:
        >>> check_limits("rewriter", max_tokens=256, max_characters=0)
        Traceback (most recent call last):
        ...
        learnloop.errors.ParameterError: max_characters of the editor 'rewriter' is at least 1, \
not 0
    """
    for name, limit in limits.items():
        if limit < 1:
            raise ParameterError(f"{name} of the editor {editor!r} is at least 1, not {limit!r}")
