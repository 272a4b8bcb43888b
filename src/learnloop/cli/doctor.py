"""`learnloop doctor`: what is installed, what is on this machine, and what a model can do."""

from __future__ import annotations

import json
import platform
import shutil
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import learnloop
from learnloop.environments.graders.python_sandbox_command import INSTALL
from learnloop.errors import InputError, UnknownNameError
from learnloop.llm.catalog import CATALOG
from learnloop.llm.opening import open_model
from learnloop.llm.probing import Probe, probe, verdict
from learnloop.settings import Settings, read_settings

NOT_FIT = 1
PACKAGES = ("numpy", "openai", "pydantic", "scipy", "wordllama")
EXTRAS = {
    "local": "xllamacpp",
    "sentence-transformers": "sentence-transformers",
    "optimizers": "gepa",
    "drift": "river",
    "data": "pyarrow",
    "ds1000": "pandas",
}
"""The extras, each with a package that is there if it is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """All that the doctor found. `packages` and `extras` hold versions, `None` where missing.

    `sandbox` is where bubblewrap is, which the answers of DS-1000 run in; `None` where it is not.
    """

    learnloop: str
    python: str
    machine: str
    packages: dict[str, str | None]
    extras: dict[str, str | None]
    models: dict[str, bool]
    models_folder: str
    data_folder: str
    sandbox: str | None
    probe: Probe
    fit: bool
    verdict: tuple[str, ...]


def doctor(
    model: Annotated[str, typer.Option("--model", help="Model to try.")] = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what is installed, and try whether a model can do what the methods need.

    Ends with exit code 1 where the model cannot be used.

    Example: learnloop doctor --model local
    """
    settings = read_settings()
    found = examine(model, settings=settings)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        _show(found)
    if not found.fit:
        raise typer.Exit(NOT_FIT)


def examine(model: str, *, settings: Settings) -> Examination:
    """Look at this machine and try the model.

    Raises:
        UnknownNameError: There is no such model.
    """
    tried = _try(model, settings=settings)
    return Examination(
        learnloop=learnloop.__version__,
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        packages={package: _version(package) for package in PACKAGES},
        extras={extra: _version(package) for extra, package in EXTRAS.items()},
        models={entry.name: (settings.models / entry.file).is_file() for entry in CATALOG},
        models_folder=str(settings.models),
        data_folder=str(settings.benchmarks),
        sandbox=shutil.which("bwrap"),
        probe=tried,
        fit=tried.fit,
        verdict=verdict(tried),
    )


def _try(name: str, *, settings: Settings) -> Probe:
    try:
        model = open_model(name, settings=settings)
    except UnknownNameError:
        raise
    except InputError as error:
        return Probe(model=name, failure=str(error))
    return probe(model)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _show(found: Examination) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("learnloop", f"{found.learnloop}, Python {found.python}, {found.machine}")
    for package, number in found.packages.items():
        table.add_row(package, number or "missing")
    for extra, number in found.extras.items():
        table.add_row(f"extra {extra}", number or f"no: pip install 'learnloop\\[{extra}]'")
    for name, here in found.models.items():
        table.add_row(f"model {name}", "here" if here else f"no: learnloop models get {name}")
    table.add_row("models folder", found.models_folder)
    table.add_row("data folder", f"{found.data_folder} (learnloop data list)")
    table.add_row("sandbox of ds1000", found.sandbox or f"no: {INSTALL}")
    if found.probe.failure is None:
        _show_probe(table, found.probe)
    console = Console()
    console.print(table)
    for line in found.verdict:
        console.print(line, style="green" if found.fit else "red", markup=False)


def _show_probe(table: Table, tried: Probe) -> None:
    context = f"{tried.context:,} tokens" if tried.context else "not said"
    table.add_row("tried", tried.model)
    table.add_row("follows a JSON schema", "yes" if tried.follows_schema else "no")
    table.add_row("writes at most 5 bullets", "yes" if tried.writes_bullets else "no")
    table.add_row("context", context)
    table.add_row("reads", _speed(tried.reads_per_second))
    table.add_row("writes", _speed(tried.writes_per_second))


def _speed(rate: float | None) -> str:
    return f"{rate:.0f} tokens/s" if rate else "not measured"
