"""`learnloop data`: which benchmarks there are, getting one, and checking one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.cli.bars import size, watched
from learnloop.cli.gold import Ran, run_gold_queries
from learnloop.data.catalog import BENCHMARKS, Benchmark, Download, find
from learnloop.data.checking import check, count_rows, coverage
from learnloop.data.download import Got, get, present
from learnloop.data.manifest import Source
from learnloop.errors import DataError
from learnloop.settings import read_settings

NAME = typer.Argument(help="Name of a benchmark; `learnloop data list` has them.")
JSON = typer.Option("--json", help="Print JSON.")
FROM = typer.Option("--from", help="An archive or a folder that you have.")
FORCE = typer.Option("--force", help="Get it again; what is there is moved aside.")
WRONG = 1

app = typer.Typer(help="Benchmark data: list, get, check.", no_args_is_help=True)


@app.command("list")
def list_benchmarks(as_json: Annotated[bool, JSON] = False) -> None:
    """List the benchmarks, their licences, and how much of each is on this machine.

    Example: learnloop data list
    """
    root = read_settings().benchmarks
    rows = [_describe(benchmark, root) for benchmark in BENCHMARKS]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("name", "licence", "here", "to download"):
        table.add_column(title)
    for benchmark, row in zip(BENCHMARKS, rows, strict=True):
        here = f"{row['rows'] or 0:,} of {benchmark.length:,}"
        table.add_row(benchmark.name, benchmark.licence.name, here, _to_download(benchmark))
    Console().print(table)
    typer.echo(f"Each in a folder of its name in {root}; LEARNLOOP_DATA names another place.")


@app.command("get")
def get_benchmark(
    name: Annotated[str, NAME],
    given: Annotated[Path | None, FROM] = None,
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Get a benchmark from its official sources, or from files that you have.

    Its licence, and what is fetched from where, are printed first. What is broken off goes on when
    it is run again; bytes other than the published ones are refused.

    Example: learnloop data get spider

    Example: learnloop data get bird --from ~/Downloads/dev.zip
    """
    benchmark = find(name)
    root = read_settings().benchmarks
    there = present(benchmark, root)
    if there is not None and not force:
        _say_it_is_there(benchmark, there, as_json=as_json)
        return
    for line in _plan(benchmark, given):
        typer.echo(line, err=as_json)
    with watched() as watch:
        got = get(benchmark, root=root, given=given, watch=watch)
    if as_json:
        fields = {"name": benchmark.name, "path": str(got.folder), "got": True}
        typer.echo(json.dumps(fields | got.manifest.model_dump(mode="json")))
    else:
        for line in _outcome(benchmark, got):
            typer.echo(line)


@app.command("check")
def check_benchmark(name: Annotated[str, NAME], as_json: Annotated[bool, JSON] = False) -> None:
    """Check the data of a benchmark: files, rows, databases, and that every gold query runs.

    What is wrong is printed a line each, and the exit code is then 1. No program of DS-1000 is run.

    Example: learnloop data check spider
    """
    benchmark = find(name)
    root = read_settings().benchmarks
    found = check(benchmark, root)
    ran = run_gold_queries(benchmark, root) if benchmark.archive else Ran()
    problems = [*found.problems, *ran.problems]
    notes = [*found.notes, *ran.notes]
    if as_json:
        fields = {
            "name": benchmark.name,
            "path": str(root / benchmark.name),
            "ok": not problems,
            "rows": found.rows,
            "length": benchmark.length,
            "problems": problems,
            "notes": notes,
        }
        typer.echo(json.dumps(fields))
    else:
        for line in (*problems, *notes):
            typer.echo(f"{benchmark.name}: {line}")
        typer.echo(f"{benchmark.name}: {'something is wrong' if problems else 'all is well'}")
    if problems:
        raise typer.Exit(WRONG)


def _describe(benchmark: Benchmark, root: Path) -> dict[str, object]:
    known = [download.bytes for download in benchmark.downloads if download.bytes is not None]
    try:
        rows = count_rows(benchmark, root)
    except DataError:
        rows = None
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "home": benchmark.home,
        "licence": benchmark.licence.name,
        "licence_url": benchmark.licence.url,
        "length": benchmark.length,
        "rows": rows,
        "bytes_known": sum(known),
        "files_of_unknown_size": len(benchmark.downloads) - len(known),
        "path": str(root / benchmark.name),
    }


def _to_download(benchmark: Benchmark) -> str:
    known = [download.bytes for download in benchmark.downloads if download.bytes is not None]
    unknown = len(benchmark.downloads) - len(known)
    parts = [size(sum(known))] if known else []
    if unknown:
        parts.append(f"{unknown} file{'s' * (unknown > 1)} of unknown size")
    return " and ".join(parts)


def _say_it_is_there(benchmark: Benchmark, there: Path, *, as_json: bool) -> None:
    count = count_rows(benchmark, there.parent.parent) or 0
    if as_json:
        fields = {"name": benchmark.name, "path": str(there.parent), "got": False, "rows": count}
        typer.echo(json.dumps(fields | {"length": benchmark.length}))
        return
    typer.echo(f"{benchmark.name} is there: {coverage(benchmark, count)}, in {there}.")
    typer.echo("Nothing was changed. `--force` gets it again and moves this folder aside.")


def _plan(benchmark: Benchmark, given: Path | None) -> list[str]:
    licence = benchmark.licence
    lines = [
        f"{benchmark.title} ({benchmark.home})",
        f"Licence: {licence.name} ({licence.url}): {licence.condition}.",
    ]
    if given is not None:
        return [*lines, f"From {given}; only what is not there is fetched."]
    return [*lines, "Fetched:", *_fetched(benchmark)]


def _fetched(benchmark: Benchmark) -> list[str]:
    return [f"  {_line(download)}\n    {download.url}" for download in benchmark.downloads]


def _line(download: Download) -> str:
    length = "size unknown" if download.bytes is None else f"{download.bytes:,} bytes"
    digest = "no checksum published" if download.sha256 is None else f"sha256 {download.sha256}"
    return f"{download.name}, {length}, {digest}"


def _outcome(benchmark: Benchmark, got: Got) -> list[str]:
    lines = [_received(source) for source in got.manifest.sources if source.published is None]
    lines += [f"Note: {note}" for note in got.manifest.notes]
    if got.aside is not None:
        lines.append(f"What was there is now in {got.aside}.")
    return [
        *lines,
        f"{benchmark.name}: {coverage(benchmark, got.manifest.rows)}, in {got.folder}.",
        f"Next: learnloop data check {benchmark.name}, then "
        f"learnloop run {benchmark.name} --method zero_shot",
    ]


def _received(source: Source) -> str:
    file = "/".join(source.url.partition("?")[0].split("/")[-2:])
    return (
        f"{file}: no checksum is published, so it could not be compared. Received: "
        f"{source.bytes:,} bytes, sha256 {source.sha256}; noted in manifest.json"
    )
