"""`learnloop report`: turns the records of runs into one page, PNGs and a table."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from learnloop.errors import ConfigError
from learnloop.memory.opening import open_embedder
from learnloop.protocols import Vectors
from learnloop.reports.control_markdown import write_markdown
from learnloop.reports.load import load_material
from learnloop.reports.page import Content, sort_out, write_page
from learnloop.reports.sameness import by_meaning
from learnloop.reports.study_markdown import write_study
from learnloop.reports.wording import plural
from learnloop.settings import read_settings

EMBEDDER = "wordllama"
"""What says whether two bullets mean the same: its weights come with it."""


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run directories, or folders of runs.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the page and the charts.")
    ] = Path("report"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows of all tables as JSON.")
    ] = False,
    as_markdown: Annotated[
        bool,
        typer.Option("--markdown", help="Print headlines and tables as Markdown."),
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Write the report of all runs in or under the folders: one page, and its charts as PNG.

    A row of --json is that of a stream of data (`method`, `accuracy`, `second_half`, ...) or that
    of a control task (`arm`, `noise`, `metric`, `mean`, `sd`, `edits`, `calls`, ...).

    Examples: learnloop report runs --out report; learnloop report runs/pid --markdown
    """
    if as_json and as_markdown:
        raise ConfigError("--json and --markdown both print; give one of the two")
    words = ["learnloop", "report", *map(str, folders)]
    with Console(stderr=True).status("reading runs") as status:
        material = load_material(folders)
        status.update(f"working out {plural(len(material.runs) + len(material.summaries), 'run')}")
        content = sort_out(material, same=by_meaning(_embed, name=EMBEDDER))
        tables = _markdown(content) if as_markdown else ""
        status.update("drawing charts")
        page = write_page(content, out=out, command=shlex.join(words))
    if as_json:
        rows = [asdict(row) for row in content.rows]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif as_markdown:
        typer.echo(tables, nl=False)
    else:
        typer.echo(f"{page} shows {plural(content.run_count, 'run')}")
    if open_page:
        typer.launch(str(page))


def _markdown(content: Content) -> str:
    tables = [write_markdown(content.control)] if content.control else []
    if content.study is not None:
        tables.append(write_study(content.study))
    if not tables:
        raise ConfigError("--markdown prints tables of runs, and there is no run here")
    return "\n".join(tables)


def _embed(texts: Sequence[str]) -> Vectors:
    """Turn texts into vectors; what does it is opened when a report has policies to compare."""
    return open_embedder(EMBEDDER, settings=read_settings()).embed(texts)
