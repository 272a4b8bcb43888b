"""What records note of a run: what is said of the rows, and what of one method alone."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.reports.load import Run

COMPARABLE = "Results on these subsets are comparable between methods, not with published tables."
_BETWEEN = "; "
_SUBSET = ("a subset", "excluded")
"""Words of notes that say that rows of the published stream are not there."""


_OF_METHOD = ("the method ", "the answering model ")
"""Beginnings of notes about a method; where it is the only one, nothing else tells them apart."""


def row_notes(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return what the notes of all runs say of the rows."""
    each = [[part for part in _parts(run) if not part.startswith(_OF_METHOD)] for run in runs]
    return tuple(part for part in (each[0] if each else []) if all(part in one for one in each))


def own_notes(run: Run, shared: Sequence[str]) -> tuple[str, ...]:
    """Return what a run's note says that those of other runs do not: it is about its method."""
    return tuple(part for part in _parts(run) if part not in shared)


def say_notes(told: Sequence[str]) -> str:
    """Return notes with what they mean for a reader; `""` where there are none.

    Examples:
        >>> say_notes(["oracle: the method is told the right answers"])
        'oracle: the method is told the right answers.'
        >>> say_notes(["spider-v1: a subset: 80 of 2,147"]).endswith("not with published tables.")
        True
        >>> say_notes([])
        ''
    """
    if not told:
        return ""
    said = f"{'. '.join(told)}."
    is_subset = any(word in note for note in told for word in _SUBSET)
    return f"{said} {COMPARABLE}" if is_subset else said


def _parts(run: Run) -> list[str]:
    return [part for part in run.info.note.split(_BETWEEN) if part]
