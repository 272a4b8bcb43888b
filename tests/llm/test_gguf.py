import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.errors import ModelFileError
from learnloop.llm.gguf import check_gguf


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def small_gguf(*, alignment: int = 64) -> bytes:
    """Two tensors of 8 floats; their data begins at a multiple of the alignment."""
    pairs = text("general.alignment") + struct.pack("<II", 4, alignment)
    pairs += text("names") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    pairs += text("scores") + struct.pack("<IIQ3f", 9, 6, 3, 1, 2, 3)
    tensors = b"".join(
        text(name) + struct.pack("<IQIQ", 1, 8, 0, offset) for name, offset in [("a", 0), ("b", 64)]
    )
    header = b"GGUF" + struct.pack("<IQQ", 3, 2, 3) + pairs + tensors
    return header + bytes(-len(header) % alignment) + bytes(64 + 32)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(content)
    return path


def test_a_whole_file_passes(tmp_path: Path) -> None:
    check_gguf(write(tmp_path, small_gguf()))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no model file"):
        check_gguf(tmp_path / "none.gguf")


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="does not begin with GGUF"):
        check_gguf(write(tmp_path, b"PK\x03\x04 something else"))


def test_a_file_cut_short_in_its_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cut short"):
        check_gguf(write(tmp_path, small_gguf()[:-32]))


@pytest.mark.parametrize("length", [4, 10, 24, 40, 100, 180])
def test_a_file_cut_short_in_its_header_is_refused(tmp_path: Path, length: int) -> None:
    with pytest.raises(ModelFileError, match="cut short"):
        check_gguf(write(tmp_path, small_gguf()[:length]))


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_noise_is_refused_and_never_crashes(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes
) -> None:
    content = b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 1 << 40) + noise
    with pytest.raises(ModelFileError):
        check_gguf(write(tmp_path_factory.mktemp("noise"), content))
