"""`learnloop init`: writes a config file to begin with."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from learnloop.errors import InputError


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("learnloop.toml"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a config file with a comment for every setting. It never overwrites one.

    Examples: learnloop init; learnloop init shop/learnloop.toml
    """
    path = path / "learnloop.toml" if path.is_dir() else path
    template = files("learnloop.cli").joinpath("init.toml").read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template)
    except FileExistsError as error:
        raise InputError(
            f"{str(path)!r} is there already and stays as it is; give another path"
        ) from error
    if as_json:
        typer.echo(json.dumps({"path": str(path)}))
        return
    typer.echo(f"Wrote {path}. Next: learnloop serve --config {path}")
