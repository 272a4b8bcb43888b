"""Makes the folder of a benchmark of downloads or of the user's files, in a staging folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from learnloop.data.archives import (
    check_database,
    check_name,
    extract_databases,
    read_json_rows,
    rows_of_json,
)
from learnloop.data.catalog import Archive, Benchmark, Download, Rows
from learnloop.data.given import Given, databases_in
from learnloop.data.manifest import Manifest, Source, describe_file, read_manifest
from learnloop.data.rows import Row, convert, queries_in, read_parquet, read_rows, write_rows
from learnloop.errors import DataError, FetchError
from learnloop.fetching import Progress, fetch, file_sha256

Watch = Callable[[str, int | None], Progress]
"""Told what begins and how many bytes it has; returns whom to tell as they are done."""

SPARE = 200 << 20
"""Bytes of disk wanted beyond the downloads themselves."""
MOST = 1 << 30
"""Most bytes of a download whose size is not published."""


@dataclass(slots=True, kw_only=True)
class Making:
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
        if layout is None:
            self._check_space()
            self._make_rows()
        else:
            self._copy_layout(layout)
        if not (self.folder / "database").is_dir():
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
        names = {str(row["db_id"]) for row in read_rows(self._stream())}
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
        before = self._received_before(download.url)
        if before not in (None, sha256):
            self.notes.append(f"{download.name} is not what was received before: sha256 {before}")
        self.sources.append(
            Source(url=download.url, bytes=path.stat().st_size, sha256=sha256, published=same)
        )
        return path

    def _received_before(self, url: str) -> str | None:
        """Return the checksum that the manifest of the folder that is there has for a download."""
        try:
            manifest = read_manifest(self.root / self.benchmark.name)
        except DataError:
            return None
        sources = manifest.sources if manifest else ()
        return next((source.sha256 for source in sources if source.url == url), None)

    def _fetched(self, download: Download) -> Path:
        whole = self.staging / download.name
        if whole.is_file():
            return whole
        partial = self.staging / f"{download.name}.partial"
        progress = self.watch(download.name, download.bytes)
        fetch(
            download.url,
            partial,
            progress,
            limit=download.bytes or MOST,
            transport=self.transport,
        )
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

    def _stream(self) -> Path:
        files = (self.folder / name for name in self.benchmark.streams)
        return next(file for file in files if file.is_file())

    def _manifest(self) -> Manifest:
        files = [
            describe_file(self.folder, path, rows=self.counts.get(path.name))
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        ]
        return Manifest(
            benchmark=self.benchmark.name,
            licence=self.benchmark.licence.name,
            licence_url=self.benchmark.licence.url,
            length=self.benchmark.length,
            rows=self.counts[self._stream().name],
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
