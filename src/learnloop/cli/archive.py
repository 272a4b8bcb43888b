"""`learnloop archive`: packs the complete runs of a study for a later study to go on from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from learnloop.records.archive import pack


def archive(
    study: Annotated[Path, typer.Argument(metavar="STUDY_DIR", help="Folder of runs.")],
    folder: Annotated[Path, typer.Argument(metavar="ARCHIVE_DIR", help="Where to pack them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Pack every complete run of a study, beside those that are in the archive already.

    `learnloop study FILE --continue-from ARCHIVE_DIR` takes them over.

    Example: learnloop archive runs/pid results/pid
    """
    packed = pack(study, folder)
    if as_json:
        typer.echo(json.dumps({"dir": str(folder)} | asdict(packed)))
        return
    typer.echo(
        f"{folder}: {packed.added} runs added, {packed.known} were there, "
        f"{packed.unfinished} are not complete yet"
    )
