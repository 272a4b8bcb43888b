"""Gets a benchmark from its sources or from files of the user's, whole or not at all.

Downloads and what is made of them stand in a hidden folder beside the final one, which is renamed
when all is there. What is broken off goes on when it is run again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from filelock import FileLock

from learnloop.data.archives import (
    check_database,
    check_name,
    extract_databases,
    read_json_rows,
    rows_of_json,
)
from learnloop.data.catalog import Archive, Benchmark, Download, Rows
from learnloop.data.given import Given, databases_in
from learnloop.data.manifest import Manifest, Source, describe_file, write_manifest
from learnloop.data.rows import Row, convert, queries_in, read_parquet, read_rows, write_rows
from learnloop.errors import DataError, FetchError
from learnloop.fetching import Progress, fetch, file_sha256

Watch = Callable[[str, int | None], Progress]
"""Told what begins and how many bytes it has; returns whom to tell as they are done."""

SPARE = 200 << 20
"""Bytes of disk wanted beyond the downloads themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What was got, and where to; `aside` is where an earlier folder was moved."""

    folder: Path
    manifest: Manifest
    aside: Path | None = None


def present(benchmark: Benchmark, root: Path) -> Path | None:
    """Return the file of the benchmark's stream, if one is there."""
    paths = (root / benchmark.name / stream for stream in benchmark.streams)
    return next((path for path in paths if path.is_file()), None)


def get(
    benchmark: Benchmark,
    *,
    root: Path,
    given: Path | None = None,
    watch: Watch | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> Got:
    """Get a benchmark into its folder in `root`. A folder that is there is moved aside.

    Raises:
        DataError: It could not be had whole; nothing has changed then.
        MissingExtraError: What reads the files is not installed.
    """
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / f".{benchmark.name}.lock"):
        making = _Making(
            benchmark=benchmark,
            root=root,
            given=Given(path=given) if given else None,
            watch=watch or _unwatched,
            transport=transport,
        )
        try:
            manifest = making.make()
        except FetchError as error:
            raise DataError(
                f"{benchmark.name} could not be had: {error}. If you have its files, give them "
                f"with `learnloop data get {benchmark.name} --from PATH`, or set LEARNLOOP_DATA "
                f"to a folder that holds {benchmark.name}/"
            ) from error
        return _put_in_place(making, manifest)


@dataclass(slots=True, kw_only=True)
class _Making:
    """One benchmark while it is made."""

    benchmark: Benchmark
    root: Path
    given: Given | None
    watch: Watch
    transport: httpx2.BaseTransport | None
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def staging(self) -> Path:
        return self.root / f".{self.benchmark.name}.partial"

    @property
    def folder(self) -> Path:
        return self.staging / "made"

    def make(self) -> Manifest:
        """Make the folder in the staging folder and return its manifest."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        layout = self.given.layout(self.benchmark) if self.given else None
        if layout is not None:
            self._copy_layout(layout)
        else:
            self._check_space()
            self._make_rows()
            self._make_databases()
        return self._manifest()

    def _copy_layout(self, layout: Path) -> None:
        databases = layout.glob("database/*/*.sqlite")
        wanted = [*layout.glob("*.jsonl"), *layout.glob("*.json"), *databases]
        for path in sorted(wanted):
            if path.name == "manifest.json":
                continue
            target = self.folder / path.relative_to(layout)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            if target.suffix == ".jsonl":
                self.counts[target.name] = sum(map(queries_in, read_rows(target)))
        self.notes.append("copied from files of your own")

    def _make_rows(self) -> None:
        for rows in self.benchmark.rows:
            source = self._source_rows(rows)
            if source is not None:
                made = convert(source, rows.shape)[: rows.limit]
                write_rows(self.folder / rows.file, made)
                self.counts[rows.file] = len(made)

    def _source_rows(self, rows: Rows) -> Sequence[Row] | None:
        """Return the rows of the Parquet file; where it cannot be had, of the user's archive.

        Rows beside the stream may be missing where the user gives files.
        """
        try:
            return read_parquet(self._obtain(rows.download))
        except FetchError as error:
            if self.given is None:
                raise
            if rows is not self.benchmark.rows[0]:
                self.notes.append(f"{rows.file} is missing: {error}")
                return None
            own = self._own_rows(self.given)
            if own is None:
                raise
            self.notes.append("the hub was out of reach; the rows are those of your own archive")
            return own

    def _own_rows(self, given: Given) -> Sequence[Row] | None:
        archive = self.benchmark.archive
        if archive is None or not archive.rows:
            return None
        zipped = given.download(self.benchmark, archive.download)
        if zipped is not None:
            return read_json_rows(zipped, archive.rows)
        path = given.json_rows(archive.rows)
        return rows_of_json(path.read_bytes(), path.name) if path is not None else None

    def _make_databases(self) -> None:
        archive = self.benchmark.archive
        if archive is None:
            return
        stream = read_rows(self.folder / self.benchmark.rows[0].file)
        names = {str(row["db_id"]) for row in stream}
        for name in names:
            check_name(name)
        target = self.folder / "database"
        own = self._own_databases(archive, names)
        for name, path in sorted(own.items()):
            check_database(path)
            (target / name).mkdir(parents=True)
            shutil.copyfile(path, target / name / f"{name}.sqlite")
        if not own:
            path = self._obtain(archive.download)
            progress = self.watch(f"unpacking {path.name}", None)
            extract_databases(path, archive, target, names=names, progress=progress)

    def _own_databases(self, archive: Archive, names: set[str]) -> dict[str, Path]:
        """Return databases that are here already: the user's, or those of another benchmark."""
        if self.given is not None:
            if found := self.given.databases(names):
                return found
            if self.given.download(self.benchmark, archive.download):
                return {}
        if self.benchmark.name == "cosql":
            return databases_in(self.root / "spider" / "database", names)
        return {}

    def _obtain(self, download: Download) -> Path:
        """Return the file of a download: the user's own, or one that is fetched and checked."""
        path = self.given.download(self.benchmark, download) if self.given else None
        is_own = path is not None
        if path is None:
            path = self._fetched(download)
        sha256 = file_sha256(path)
        same = None if download.sha256 is None else sha256 == download.sha256
        if same is False and is_own:
            self.notes.append(f"{path.name} is not the published file; its sha256 is {sha256}")
        self.sources.append(
            Source(url=download.url, bytes=path.stat().st_size, sha256=sha256, published=same)
        )
        return path

    def _fetched(self, download: Download) -> Path:
        whole = self.staging / download.name
        if whole.is_file():
            return whole
        partial = self.staging / f"{download.name}.partial"
        progress = self.watch(download.name, download.bytes)
        fetch(download.url, partial, progress, transport=self.transport)
        wrong = _difference(download, partial)
        if wrong is not None:
            partial.unlink()
            raise DataError(
                f"{download.url} gave other bytes than published, refused and deleted: {wrong}; "
                "run it again, or give a file of your own with --from PATH"
            )
        return partial.replace(whole)

    def _check_space(self) -> None:
        need = SPARE + sum(
            download.bytes or 0
            for download in self.benchmark.downloads
            if not (self.staging / download.name).is_file()
            and not (self.given and self.given.download(self.benchmark, download))
        )
        free = shutil.disk_usage(self.staging).free
        if free < need:
            raise DataError(
                f"{self.benchmark.name} needs {need / 1e9:.1f} GB of disk and {str(self.root)!r} "
                f"has {free / 1e9:.1f} GB; make room or set LEARNLOOP_DATA to another folder"
            )

    def _manifest(self) -> Manifest:
        files = [
            describe_file(self.folder, path, rows=self.counts.get(path.name))
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        ]
        count = next(
            self.counts[stream] for stream in self.benchmark.streams if stream in self.counts
        )
        return Manifest(
            benchmark=self.benchmark.name,
            licence=self.benchmark.licence.name,
            licence_url=self.benchmark.licence.url,
            length=self.benchmark.length,
            rows=count,
            sources=tuple(self.sources),
            files=tuple(files),
            notes=tuple(self.notes),
        )


def _difference(download: Download, path: Path) -> str | None:
    size = path.stat().st_size
    if download.bytes is not None and size != download.bytes:
        return f"{size:,} bytes, expected {download.bytes:,}"
    if download.sha256 is None:
        return None
    found = file_sha256(path)
    return None if found == download.sha256 else f"sha256 {found}, expected {download.sha256}"


def _put_in_place(making: _Making, manifest: Manifest) -> Got:
    """Rename the folder that was made; one that is there is moved aside, never deleted."""
    write_manifest(making.folder, manifest)
    final = making.root / making.benchmark.name
    aside = None
    if final.exists():
        numbers = (f"{final.name}.old{number or ''}" for number in range(10_000))
        aside = next(making.root / name for name in numbers if not (making.root / name).exists())
        final.rename(aside)
    making.folder.rename(final)
    shutil.rmtree(making.staging)
    return Got(folder=final, manifest=manifest, aside=aside)


def _unwatched(what: str, total: int | None) -> Progress:
    return lambda done: None
