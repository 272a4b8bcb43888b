"""Complete runs packed into few small files, which a later study goes on from.

An archive is a folder of `NAME.tar.xz`, one for each method of the study; in it a folder for each
run. The same runs make the same bytes.
"""

from __future__ import annotations

import io
import lzma
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from learnloop.errors import RecordError
from learnloop.records.encoding import INFO, STEP, TIMING, decode
from learnloop.records.lines import write_atomically
from learnloop.records.reader import RunRecords, find_runs, read_bytes, read_info, read_lines
from learnloop.records.schema import RunInfo
from learnloop.records.writer import INFO_FILE, STEPS_FILE, TIMINGS_FILE

SUFFIX = ".tar.xz"
FILES = (INFO_FILE, STEPS_FILE, TIMINGS_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedRun:
    """One run of an archive: what it is, the bytes of its files, and the file it is packed in."""

    info: RunInfo
    files: Mapping[str, bytes]
    path: Path

    def read(self) -> RunRecords:
        """Return the records.

        Raises:
            RecordError: A line cannot be read.
        """
        where = self.path / self.info.run_id
        return RunRecords(
            directory=where,
            info=self.info,
            steps=tuple(read_lines(self.files[STEPS_FILE], STEP, where=where / STEPS_FILE)),
            timings=tuple(read_lines(self.files[TIMINGS_FILE], TIMING, where=where / TIMINGS_FILE)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What packing did: runs that were added, were there before, or are not complete yet."""

    added: int
    known: int
    unfinished: int


def pack(study: Path, archive: Path) -> Packed:
    """Add every complete run at or under a folder to an archive. What is in it stays in it.

    Raises:
        RecordError: There is no run, a file cannot be read or written, or a run has other steps
            in the archive, or at another place in the folder. The archive is then as it was.
    """
    there = read_archive(archive)
    found = {directory: read_info(directory) for directory in find_runs(study)}
    complete = {directory: info for directory, info in found.items() if info.complete}
    made: dict[str, ArchivedRun] = {}
    for path, info in complete.items():
        run = _read_run(path, info, archive)
        _check_equal(made.setdefault(info.run_id, run), run, where=study)
    added = {run_id: run for run_id, run in made.items() if run_id not in there}
    for run_id in made.keys() & there.keys():
        _check_equal(there[run_id], made[run_id], where=there[run_id].path)
    _create(archive)
    for path in sorted({run.path for run in added.values()}):
        runs = [run for run in (*there.values(), *added.values()) if run.path == path]
        write_atomically(path, _pack_file(runs))
    return Packed(
        added=len(added),
        known=len(made) - len(added),
        unfinished=len(found) - len(complete),
    )


def is_archive(folder: Path) -> bool:
    """Whether there are packed runs in the folder."""
    return any(folder.glob(f"*{SUFFIX}"))


def read_archive(folder: Path) -> dict[str, ArchivedRun]:
    """Return the runs of an archive by their ids; none where there is no such folder yet.

    Raises:
        RecordError: A file in it is damaged, or holds anything but runs.
    """
    return {
        run.info.run_id: run
        for path in sorted(folder.glob(f"*{SUFFIX}"))
        for run in _read_file(path)
    }


def _read_run(directory: Path, info: RunInfo, archive: Path) -> ArchivedRun:
    files = {name: read_bytes(directory / name) for name in FILES}
    name = _plain(str(info.spec.get("label") or info.method))
    return ArchivedRun(info=info, files=files, path=archive / (name + SUFFIX))


def _check_equal(old: ArchivedRun, new: ArchivedRun, *, where: Path) -> None:
    """Raise unless two runs of one id are the same; when it was made does not matter."""
    if old.info.spec_hash != new.info.spec_hash or old.files[STEPS_FILE] != new.files[STEPS_FILE]:
        raise RecordError(
            f"the run {new.info.run_id!r} has other steps in {str(where)!r}; nothing was "
            "changed; was the code or the model file changed? Give another archive folder, or "
            "the folder of one study"
        )


def _pack_file(runs: list[ArchivedRun]) -> bytes:
    """Pack runs so that the bytes depend on nothing but what the runs say."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for run in sorted(runs, key=lambda run: run.info.run_id):
            for name in FILES:
                member = tarfile.TarInfo(f"{run.info.run_id}/{name}")
                member.size = len(run.files[name])
                tar.addfile(member, io.BytesIO(run.files[name]))
    return lzma.compress(packed.getvalue(), preset=lzma.PRESET_EXTREME)


def _read_file(path: Path) -> Iterator[ArchivedRun]:
    folders: dict[str, dict[str, bytes]] = {}
    try:
        for name, content in _members(path):
            run_id, _, file = name.partition("/")
            folders.setdefault(run_id, {})[file] = content
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise RecordError(
            f"the archive {str(path)!r} is damaged ({error}); nothing was changed; restore it, "
            "or move it away to go on without it"
        ) from error
    for run_id, files in folders.items():
        info = decode(INFO, files.get(INFO_FILE, b""), where=f"{path}, {run_id}/{INFO_FILE}")
        if set(files) != set(FILES) or info.run_id != run_id:
            raise RecordError(f"{run_id!r} in {str(path)!r} is no whole run; nothing was changed")
        yield ArchivedRun(info=info, files=files, path=path)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files in a tar that may be in an archive of runs, and refuse any other."""
    with tarfile.open(path, mode="r:xz") as tar:
        for member in tar:
            tarfile.data_filter(member, str(path.parent))
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or not _MEMBER.fullmatch(member.name):
                raise tarfile.ReadError(f"{member.name!r} is no file of a run")
            yield member.name, content.read()


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"cannot make {str(folder)!r}: {error.strerror}") from error


def _plain(text: str) -> str:
    return re.sub(r"[^\w.=+-]+", "+", text).strip("+.") or "runs"


_MEMBER = re.compile(r"(?!\.)[\w.=+-]+/(" + "|".join(map(re.escape, FILES)) + ")")
"""The name of a file in a tar: a run's id, which begins with no dot, and one of its files."""
