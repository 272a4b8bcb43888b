"""`learnloop serve`: runs the server until it is told to stop."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from learnloop.errors import MissingExtraError
from learnloop.settings import read_settings


def serve(
    config: Annotated[Path, typer.Option("--config", help="Config file.")] = Path("learnloop.toml"),
    host: Annotated[str | None, typer.Option("--host", help="In place of the config's.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="In place of the config's.")] = None,
) -> None:
    """Run the server that the config file describes, until it is interrupted.

    It speaks the OpenAI format under /v1, and is ready when /ready answers 200. SIGTERM or Ctrl-C
    lets requests that are being answered end, for 30 seconds at most. It logs to standard error.

    Examples: learnloop serve; learnloop serve --config shop.toml --port 9000
    """
    try:
        running = import_module("learnloop.server.running")
        configs = import_module("learnloop.server.config")
    except ImportError as error:
        raise MissingExtraError(
            f"the server needs {error.name!r}; install it with pip install 'learnloop[server]'"
        ) from error
    chosen = configs.with_address(configs.read_config(config), host=host, port=port)
    running.run(chosen, settings=read_settings())
