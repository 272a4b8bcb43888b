"""Checks the data of a benchmark that is here; running its gold queries is left to the caller."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from learnloop.data.archives import check_name
from learnloop.data.catalog import Benchmark
from learnloop.data.download import present
from learnloop.data.manifest import changes, read_manifest
from learnloop.data.rows import Row, lacking, queries_in, read_rows
from learnloop.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found.

    Attributes:
        rows: Queries of the stream that are here.
        problems: What is wrong, a line each.
        notes: What is worth knowing, a line each.
    """

    rows: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuery:
    """One gold query; `fails` says that the rows themselves mark it as one that does not run."""

    row: str
    database: str
    sql: str
    fails: bool = False


def check(benchmark: Benchmark, root: Path) -> Checked:
    """Check files against the manifest, where there is one, and that every row can be read.

    Raises:
        DataError: There is nothing to check.
    """
    stream = present(benchmark, root)
    if stream is None:
        wanted = " or ".join(repr(name) for name in benchmark.streams)
        raise DataError(
            f"no {wanted} in {str(root / benchmark.name)!r}; get it with "
            f"`learnloop data get {benchmark.name}`"
        )
    problems: list[str] = []
    notes: list[str] = []
    _check_manifest(stream.parent, problems, notes)
    count = _check_stream(benchmark, stream, problems)
    _check_others(stream, problems)
    notes.insert(0, coverage(benchmark, count))
    if benchmark.name == "ds1000":
        notes += _known_passes(stream.parent, count)
    return Checked(rows=count, problems=tuple(problems), notes=tuple(notes))


def coverage(benchmark: Benchmark, count: int) -> str:
    """Return how much of the published stream is here, in words.

    Examples:
        >>> from learnloop.data.catalog import find
        >>> coverage(find("spider"), 972)
        '972 of 2,147 published queries (a subset)'
        >>> coverage(find("ds1000"), 1000)
        'all 1,000 published queries'
    """
    if count == benchmark.length:
        return f"all {count:,} published queries"
    if count < benchmark.length:
        return f"{count:,} of {benchmark.length:,} published queries (a subset)"
    return f"{count:,} queries, where {benchmark.length:,} are published"


def count_rows(benchmark: Benchmark, root: Path) -> int | None:
    """Return how many queries of the stream are here; `None` where there is no stream.

    Raises:
        DataError: It cannot be read.
    """
    stream = present(benchmark, root)
    return None if stream is None else sum(map(queries_in, read_rows(stream)))


def gold_queries(benchmark: Benchmark, root: Path) -> Iterator[GoldQuery]:
    """Return the gold queries of a benchmark with databases, in the order of the stream.

    Rows that lack a field are left out; `check` tells of them.
    """
    stream = present(benchmark, root)
    if stream is None or benchmark.archive is None:
        return
    for number, row in enumerate(read_rows(stream)):
        if not lacking(benchmark.name, row):
            yield from _of_row(str(row.get("id", row.get("question_id", number))), row)


def database_folder(benchmark: Benchmark, root: Path) -> Path:
    """Return where the databases are. CoSQL's are Spider's, where it has none of its own."""
    own = root / benchmark.name / "database"
    return root / "spider" / "database" if benchmark.name == "cosql" and not own.is_dir() else own


def database_file(folder: Path, name: str) -> Path:
    """Return the file of a database.

    Raises:
        DataError: Its name is not a plain one, or it is not there.
    """
    check_name(name)
    path = folder / name / f"{name}.sqlite"
    if not path.is_file():
        raise DataError(f"no database {name!r} in {str(folder)!r}")
    return path


def _of_row(name: str, row: Row) -> Iterator[GoldQuery]:
    database = str(row["db_id"])
    turns = row.get("turns", [row])
    for number, turn in enumerate(turns, start=1):
        yield GoldQuery(
            row=f"{name} turn {number}" if "turns" in row else name,
            database=database,
            sql=str(turn["query"] if "query" in turn else turn["SQL"]),
            fails="error" in turn,
        )


def _check_manifest(folder: Path, problems: list[str], notes: list[str]) -> None:
    try:
        manifest = read_manifest(folder)
    except DataError as error:
        problems.append(str(error))
        return
    if manifest is None:
        notes.append("no manifest: the bytes could not be compared with what was received")
    else:
        problems += changes(folder, manifest)
        notes += [f"compared {len(manifest.files):,} files with the manifest", *manifest.notes]


def _check_stream(benchmark: Benchmark, stream: Path, problems: list[str]) -> int:
    count = 0
    try:
        for number, row in enumerate(read_rows(stream)):
            missing = lacking(benchmark.name, row)
            if missing:
                problems.append(f"{stream.name} row {number} lacks {missing}")
            count += queries_in(row)
    except DataError as error:
        problems.append(str(error))
    if count == 0:
        problems.append(f"{stream.name} has no rows")
    return count


def _check_others(stream: Path, problems: list[str]) -> None:
    for path in sorted(stream.parent.glob("*.json*")):
        try:
            if path.suffix == ".json":
                json.loads(path.read_bytes())
            elif path != stream:
                for _ in read_rows(path):
                    pass
        except DataError as error:
            problems.append(str(error))
        except ValueError as error:
            problems.append(f"{path.name} is not JSON: {error}")


def _known_passes(folder: Path, count: int) -> list[str]:
    notes = []
    for path in sorted(folder.glob("gold_pass*.json")):
        try:
            known = json.loads(path.read_bytes())
            ids, libraries = known["problem_ids"], known["env"]
        except (ValueError, KeyError, TypeError):
            continue
        notes.append(f"{len(ids):,} of {count:,} references are known to pass with {libraries}")
    return notes or ["which references pass is not known here; no code was run"]
