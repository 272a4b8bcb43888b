"""`learnloop report`: turns the records of runs into one page, PNGs and a table."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from learnloop.reports.groups import make_sections
from learnloop.reports.load import load_runs
from learnloop.reports.page import write_report
from learnloop.reports.tables import make_table
from learnloop.reports.wording import plural


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run directories, or folders of runs.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the page and the charts.")
    ] = Path("report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Write the report of all runs in or under the folders: one page, and its charts as PNG.

    Example: learnloop report runs --out report
    """
    runs = load_runs(folders)
    words = ["learnloop", "report", *map(str, folders)]
    page = write_report(runs, out=out, command=shlex.join(words))
    if as_json:
        rows = make_table(make_sections(runs))
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        typer.echo(f"{page} shows {plural(len(runs), 'run')}")
    if open_page:
        typer.launch(str(page))
