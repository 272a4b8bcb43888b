"""Does what takes minutes the first time an environment is opened, and shows how far it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from learnloop.environments import PREPARATIONS
from learnloop.runner.building import check_words
from learnloop.runner.spec import RunSpec

PLAIN_EVERY = 100
"""Without a terminal, one line in so many."""

Report = Callable[[int, int], None]


def make_ready(specs: Iterable[RunSpec], console: Console) -> None:
    """Prepare the environments of some specs, each once.

    Raises:
        InputError: A name or a parameter is not good, rows are not here, or a tool is missing.
    """
    done: list[tuple[object, Mapping[str, object]]] = []
    for spec in specs:
        if spec.environment not in PREPARATIONS:
            continue
        check_words(spec)
        prepare = PREPARATIONS.load(spec.environment)
        params = _own(prepare, spec.environment_params)
        if (prepare, params) not in done:
            done.append((prepare, params))
            _show(spec.environment, partial(prepare, **params), console)


def _own(prepare: Callable[..., object], params: Mapping[str, object]) -> Mapping[str, object]:
    taken = inspect.signature(prepare).parameters
    return {name: value for name, value in params.items() if name in taken}


def _show(name: str, prepare: Callable[..., object], console: Console) -> None:
    what = f"{name}: trying the references (first time only)"
    if not console.is_terminal:
        prepare(progress=_lines(what, console))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bars:
        task = bars.add_task(what, total=None, visible=False)
        prepare(progress=lambda done, of: bars.update(task, completed=done, total=of, visible=True))


def _lines(what: str, console: Console) -> Report:
    def report(done: int, of: int) -> None:
        if done == 1 or done % PLAIN_EVERY == 0 or done == of:
            console.print(f"{what}: {done} of {of}", soft_wrap=True, highlight=False, markup=False)

    return report
