"""When two results of a query are the same."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

Cell = str | bytes | int | float | None
Row = tuple[Cell, ...]


def same_rows(got: Sequence[Row], want: Sequence[Row], *, ordered: bool) -> bool:
    """Whether two results hold the same rows, in the same order only if `ordered`.

    Whole numbers are compared exactly, whatever their type. Where one of two numbers is a
    fraction, they may differ by one part in a million or by half a cent, so that rounding to
    cents is no mistake: 3.3333 is as good as 3.33, while 7 is not 8 and `'7'` is not 7.

    Examples:
        >>> same_rows([("b", 3.33), ("a", 5)], [("a", 5.0), ("b", 10 / 3)], ordered=False)
        True
        >>> same_rows([("7",)], [(7,)], ordered=False)
        False
    """
    if len(got) != len(want):
        return False
    if ordered:
        return all(map(same_row, got, want))
    got_groups, want_groups = _by_text(got), _by_text(want)
    if got_groups.keys() != want_groups.keys():
        return False
    return all(_match(got_groups[key], want_groups[key]) for key in want_groups)


def same_order(got: Sequence[Row], want: Sequence[Row], *, ties: Sequence[int] = ()) -> bool:
    """Whether two results hold the same rows in the same order, but for rows that tie.

    Args:
        got: The rows of the answer.
        want: The rows that are right.
        ties: The sizes of the groups of wanted rows that tie, in order; without it none do.

    Examples:
        >>> same_order([("b", 1), ("a", 1), ("c", 2)], [("a", 1), ("b", 1), ("c", 2)], ties=[2, 1])
        True
        >>> same_order([("c", 2), ("a", 1), ("b", 1)], [("a", 1), ("b", 1), ("c", 2)], ties=[2, 1])
        False
    """
    if not ties or sum(ties) != len(want):
        return same_rows(got, want, ordered=True)
    ends = list(accumulate(ties))
    groups = [slice(end - size, end) for size, end in zip(ties, ends, strict=True)]
    return len(got) == len(want) and all(
        same_rows(got[group], want[group], ordered=False) for group in groups
    )


def same_row(got: Row, want: Row) -> bool:
    """Whether two rows are the same, cell by cell."""
    return len(got) == len(want) and all(map(_same_cell, got, want))


def _same_cell(got: Cell, want: Cell) -> bool:
    if isinstance(got, int | float) and isinstance(want, int | float):
        return _same_number(got, want)
    return type(got) is type(want) and got == want


def _same_number(got: float, want: float) -> bool:
    if got == want or (float(got).is_integer() and float(want).is_integer()):
        return got == want
    return math.isclose(got, want, rel_tol=1e-6, abs_tol=0.005 + 1e-9)


def _by_text(rows: Sequence[Row]) -> dict[Row, list[Row]]:
    """Group rows by all that is not a number; only rows of one group can be the same."""
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(0 if isinstance(cell, int | float) else cell for cell in row)].append(row)
    return groups


def _match(got: list[Row], want: list[Row]) -> bool:
    """Whether two groups of equal size pair up: sorted side by side, else one by one if few."""
    if len(got) != len(want):
        return False
    if all(map(same_row, sorted(got, key=_numbers), sorted(want, key=_numbers))):
        return True
    return len(got) <= _FEW and _pair_up(got, want)


def _pair_up(got: list[Row], want: list[Row]) -> bool:
    left = list(want)
    for row in got:
        partner = next((index for index, other in enumerate(left) if same_row(row, other)), None)
        if partner is None:
            return False
        del left[partner]
    return True


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(cell for cell in row if isinstance(cell, int | float))


_FEW = 500
