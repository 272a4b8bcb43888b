"""The `learnloop` command: registers every command, and turns errors into one clear line."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import learnloop
from learnloop.cli import data, models
from learnloop.cli.archive import archive
from learnloop.cli.doctor import doctor
from learnloop.cli.list import list_names
from learnloop.cli.quickstart import quickstart
from learnloop.cli.report import report
from learnloop.cli.run import run
from learnloop.cli.study import study
from learnloop.errors import LearnloopError

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


def _ended(why: str) -> typer.Exit:
    typer.echo(f"learnloop: {' '.join(why.split())}", err=True)
    return typer.Exit(BAD_INPUT)


app = typer.Typer(
    cls=Commands,
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


app.command("quickstart")(quickstart)
app.command("run")(run)
app.command("study")(study)
app.command("report")(report)
app.command("archive")(archive)
app.command("list")(list_names)
app.command("doctor")(doctor)
app.add_typer(models.app, name="models")
app.add_typer(data.app, name="data")


def main() -> None:
    """Run the command line."""
    app()
