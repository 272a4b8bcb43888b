"""An editor measured alone: how probable the right edit is, by what its evidence is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from learnloop.errors import RecordError

FILE = "editor_alone.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferRow:
    """What an editor made of buffers of one composition, as shares of `cases`.

    `new` observations are from after the change, and `corrupted` ones of those, or of all where
    none is new, are false; `stale` ones are from before it.
    """

    task: str
    editor: str
    stale: int
    new: int
    corrupted: int
    cases: int
    right: float
    invalid: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """How probable the right edit is from `new` observations, each false with rate `noise`."""

    task: str
    editor: str
    new: int
    noise: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAlone:
    """One measurement: the model that the editor asked, and what was found."""

    rows: tuple[BufferRow, ...]
    by_noise: tuple[NoiseRow, ...] = ()
    model: str | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order in which they were measured."""
        return tuple(dict.fromkeys(row.task for row in self.rows))

    @property
    def cases(self) -> int:
        """The most buffers of one composition."""
        return max((row.cases for row in self.rows), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatRow:
    """One line of a heat map: a cell a number of new observations, `None` where not measured."""

    name: str
    cells: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """One editor on one task."""

    editor: str
    columns: tuple[int, ...]
    rows: tuple[HeatRow, ...]
    invalid: float


def read_editor_alone(path: Path) -> EditorAlone:
    """Read a measurement.

    Raises:
        RecordError: The file cannot be read, or holds something else.
    """
    try:
        return _ADAPTER.validate_json(path.read_bytes())
    except OSError as error:
        raise RecordError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except ValidationError as error:
        first = str(error).splitlines()[0]
        raise RecordError(
            f"{path} is no measurement of an editor ({first}); "
            "benchmarks/editor_alone.py --out writes one"
        ) from error


def heat_maps(found: EditorAlone, task: str) -> list[HeatMap]:
    """Return a map an editor: new observations by how many are false, then after stale ones."""
    rows = [row for row in found.rows if row.task == task]
    columns = tuple(sorted({row.new for row in rows if row.new}))
    editors = dict.fromkeys(row.editor for row in rows)
    return [
        _map(editor, [row for row in rows if row.editor == editor], columns) for editor in editors
    ]


def noise_maps(found: EditorAlone, task: str) -> list[HeatMap]:
    """Return a map an editor: new observations by the noise that they come through."""
    rows = [row for row in found.by_noise if row.task == task]
    columns = tuple(sorted({row.new for row in rows}))
    noises = sorted({row.noise for row in rows})
    return [
        HeatMap(
            editor=editor,
            columns=columns,
            rows=tuple(
                HeatRow(
                    name=f"η = {noise:g}",
                    cells=tuple(_at(rows, editor, new, noise) for new in columns),
                )
                for noise in noises
            ),
            invalid=0.0,
        )
        for editor in dict.fromkeys(row.editor for row in rows)
    ]


def _at(rows: Sequence[NoiseRow], editor: str, new: int, noise: float) -> float | None:
    key = (editor, new, noise)
    return next((r.right for r in rows if (r.editor, r.new, r.noise) == key), None)


def _map(editor: str, rows: Sequence[BufferRow], columns: tuple[int, ...]) -> HeatMap:
    alone = [row for row in rows if row.stale == 0 and row.new]
    after = [row for row in rows if row.stale and row.new]
    lines = [
        HeatRow(
            name=_FALSE.get(corrupted, f"{corrupted} false"),
            cells=_cells([row for row in alone if row.corrupted == corrupted], columns),
        )
        for corrupted in sorted({row.corrupted for row in alone})
    ]
    if after:
        lines.append(HeatRow(name="after stale ones", cells=_cells(after, columns)))
    cases = sum(row.cases for row in rows)
    invalid = sum(row.invalid * row.cases for row in rows) / cases if cases else 0.0
    return HeatMap(editor=editor, columns=columns, rows=tuple(lines), invalid=invalid)


def _cells(rows: Sequence[BufferRow], columns: Sequence[int]) -> tuple[float | None, ...]:
    by_new = {row.new: row.right for row in rows}
    return tuple(by_new.get(new) for new in columns)


_FALSE = {0: "all true", 1: "one false", 2: "two false", 3: "three false"}
_ADAPTER: TypeAdapter[EditorAlone] = TypeAdapter(EditorAlone)
