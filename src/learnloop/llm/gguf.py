"""Tells a whole GGUF file from a broken one by its header, before the engine is given it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from learnloop.errors import ModelFileError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT_KEY = "general.alignment"
LONGEST_TEXT = 1 << 26
"""Longer strings than this are taken for damage."""

_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


def check_gguf(path: Path) -> None:
    """Check that a file begins as a GGUF file and is long enough for the tensors it lists.

    Raises:
        ModelFileError: It is not there, not a GGUF file, or cut short.
    """
    if not path.is_file():
        raise ModelFileError(f"there is no model file {str(path)!r}; see `learnloop models list`")
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ModelFileError(f"{str(path)!r} is not a GGUF model: it does not begin with GGUF")
        try:
            least = _last_tensor_offset(file)
        except (struct.error, ValueError, OverflowError, MemoryError) as error:
            raise ModelFileError(
                f"{str(path)!r} is corrupt or cut short in its header ({size:,} bytes); "
                f"get it again"
            ) from error
    if size <= least:
        raise ModelFileError(
            f"{str(path)!r} is cut short: it has {size:,} bytes and its last tensor begins at "
            f"{least:,}; get it again"
        )


def _last_tensor_offset(file: BinaryIO) -> int:
    """Read the header and return where in the file the last tensor begins."""
    version, tensors, pairs = _unpack(file, "IQQ")
    if version not in VERSIONS:
        raise ValueError(f"version {version}")
    alignment = 32
    for _ in range(pairs):
        key = _text(file)
        value = _value(file, *_unpack(file, "I"))
        if key == ALIGNMENT_KEY and isinstance(value, int) and value > 0:
            alignment = value
    offsets = [_tensor_offset(file) for _ in range(tensors)]
    start = -(-file.tell() // alignment) * alignment
    return start + max(offsets, default=0)


def _tensor_offset(file: BinaryIO) -> int:
    _text(file)
    (dimensions,) = _unpack(file, "I")
    _unpack(file, f"{min(dimensions, 8)}Q")
    _, offset = _unpack(file, "IQ")
    return int(offset)


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _TEXT:
        return _text(file)
    if kind == _ARRAY:
        inner, count = _unpack(file, "IQ")
        if inner in _FIXED:
            return file.seek(count * struct.calcsize(_FIXED[inner]), 1)
        for _ in range(count):
            _value(file, inner)
        return None
    if kind not in _FIXED:
        raise ValueError(f"value type {kind}")
    return _unpack(file, _FIXED[kind])[0]


def _text(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > LONGEST_TEXT:
        raise ValueError(f"a text of {length} bytes")
    raw = file.read(length)
    if len(raw) < length:
        raise ValueError("the file ends inside a text")
    return raw.decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    raw = file.read(struct.calcsize("<" + layout))
    return struct.unpack("<" + layout, raw)
