"""The `learnloop` command: knows where every command is, and turns errors into one clear line."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import learnloop
from learnloop.cli.lazy import LazyCommands
from learnloop.errors import LearnloopError

COMMANDS = {
    "quickstart": "learnloop.cli.quickstart:quickstart",
    "run": "learnloop.cli.run:run",
    "study": "learnloop.cli.study:study",
    "report": "learnloop.cli.report:report",
    "archive": "learnloop.cli.archive:archive",
    "list": "learnloop.cli.list:list_names",
    "doctor": "learnloop.cli.doctor:doctor",
    "models": "learnloop.cli.models:app",
    "data": "learnloop.cli.data:app",
    "init": "learnloop.cli.init:init",
    "serve": "learnloop.cli.serve:serve",
    "keys": "learnloop.cli.keys:app",
}

BAD_INPUT = 2
INTERRUPTED = 130


class Commands(TyperGroup):
    """Ends a command that raises one of our errors with its message and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LearnloopError as error:
            raise _ended(str(error)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _ended(f"{error.strerror or error}: {error.filename or 'a file'}") from error
        except KeyboardInterrupt as error:
            typer.echo("learnloop: stopped; what was finished is kept.", err=True)
            raise typer.Exit(INTERRUPTED) from error


class LearnloopCommands(Commands):
    """The commands of the `learnloop` program."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = LazyCommands(COMMANDS)


def _ended(why: str) -> typer.Exit:
    typer.echo(f"learnloop: {' '.join(why.split())}", err=True)
    return typer.Exit(BAD_INPUT)


app = typer.Typer(
    cls=LearnloopCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"learnloop {learnloop.__version__}")
        raise typer.Exit


@app.callback()
def learnloop_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Make an LLM application better while it runs, from the feedback it receives."""


def main() -> None:
    """Run the command line."""
    app()
