"""Judges the new prompts of an editor measured alone, and counts them by buffer and by noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean

from editor_alone_buffers import Buffer, Composition

from learnloop.structured_prompt import read_prompt
from learnloop.types import Edit, Values

NOISE = (0.0, 0.1, 0.2)
NARROW = 10
"""A class of distance: so wide may a belief be on `guess`, half as far off a value on `track`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One new prompt: whether it is right, how far off its answer is, and how wide its belief."""

    right: bool
    error: float
    width: int
    invalid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What an editor makes of buffers of one composition: shares and means over `cases`.

    `invalid` is the share of proposals that could not be used; the old prompt is then judged.
    """

    task: str
    editor: str
    stale: int
    new: int
    corrupted: int
    cases: int
    right: float
    error: float
    width: float
    invalid: float


def judge(task: str, buffer: Buffer, edit: Edit) -> Judged:
    """Judge the prompt that an edit leaves in force, at the newest observation."""
    text = buffer.prompt.text if edit.text is None else edit.text
    values = read_prompt(buffer.form, text)
    right, error, width = _JUDGES[task](values, buffer)
    return Judged(right=right, error=error, width=width, invalid=edit.invalid > 0)


def row_of(task: str, editor: str, composition: Composition, judged: Sequence[Judged]) -> Row:
    """Return the shares and means of some new prompts."""
    return Row(
        task=task,
        editor=editor,
        stale=composition.stale,
        new=composition.new,
        corrupted=composition.corrupted,
        cases=len(judged),
        right=fmean(each.right for each in judged),
        error=fmean(each.error for each in judged),
        width=fmean(each.width for each in judged),
        invalid=fmean(each.invalid for each in judged),
    )


def by_noise(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return how probable the right prompt is from new observations alone, by noise.

    Each number of corrupted ones counts as often as it occurs. The table goes to three, and
    more are left out of the weights.
    """
    alone = [row for row in rows if row.stale == 0 and row.new > 0]
    found = []
    for task, editor, new in dict.fromkeys((row.task, row.editor, row.new) for row in alone):
        same = [r for r in alone if (r.task, r.editor, r.new) == (task, editor, new)]
        for noise in NOISE:
            weights = [_weight(row, noise) for row in same]
            if sum(weights) > 0:
                right = sum(w * r.right for w, r in zip(weights, same, strict=True)) / sum(weights)
                key = {"task": task, "editor": editor, "new": new, "noise": noise}
                found.append({**key, "right": right})
    return found


def as_text(rows: Sequence[Row]) -> str:
    """Return the table for a terminal, the editors side by side."""
    editors = list(dict.fromkeys(row.editor for row in rows))
    lines = [_line(("task", "stale", "new", "corrupted"), editors)]
    for key in dict.fromkeys((row.task, row.stale, row.new, row.corrupted) for row in rows):
        same = {r.editor: r for r in rows if (r.task, r.stale, r.new, r.corrupted) == key}
        lines.append(_line(key, [_cell(same.get(editor)) for editor in editors]))
    return "\n".join(lines)


def _line(key: Sequence[object], cells: Sequence[str]) -> str:
    return " ".join([*(f"{part!s:>9}" for part in key), *(f"{cell:>16}" for cell in cells)])


def _cell(row: Row | None) -> str:
    return "" if row is None else f"{row.right:.2f} (off {row.error:4.1f})"


def _weight(row: Row, noise: float) -> float:
    wrong = row.corrupted
    return comb(row.new, wrong) * noise**wrong * (1 - noise) ** (row.new - wrong)


def _judge_rule(values: Values, buffer: Buffer) -> tuple[bool, float, int]:
    right = buffer.form.predict(values, buffer.query) == buffer.gold
    return right, float(not right), 0


def _judge_belief(values: Values, buffer: Buffer) -> tuple[bool, float, int]:
    low, high, number = int(values["low"]), int(values["high"]), int(buffer.gold)
    error = abs(int(buffer.form.predict(values, buffer.query)) - number)
    width = high - low + 1
    return low <= number <= high and width <= NARROW, error, width


def _judge_value(values: Values, buffer: Buffer) -> tuple[bool, float, int]:
    error = abs(int(buffer.form.predict(values, buffer.query)) - int(buffer.gold))
    return error <= NARROW / 2, error, 0


_JUDGES: dict[str, Callable[[Values, Buffer], tuple[bool, float, int]]] = {
    "parity": _judge_rule,
    "guess": _judge_belief,
    "track": _judge_value,
}
