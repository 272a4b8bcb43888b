"""The DS-1000 benchmark: data-science problems in Python, graded by running their tests.

Source: Lai et al. 2022, CC BY-SA 4.0; as a stream in StreamBench (arXiv 2406.08747): all 1,000
rows. Problems whose own reference does not pass with the libraries installed here are left out,
by name. Answers run in a sandbox, see `graders.python_sandbox`; without one nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Literal

from learnloop.environments.dataset import Dataset, Edition, Graded, Item
from learnloop.environments.ds1000_references import PASSED, Progress, check_references
from learnloop.environments.ds1000_rows import FILES, LIBRARIES, Problem, imported, read_problem
from learnloop.environments.fields import read_fields
from learnloop.environments.graders.python_answer import (
    in_fence,
    out_of_fence,
    parse_code,
    parse_published_code,
)
from learnloop.environments.graders.python_sandbox import PythonSandbox, Why
from learnloop.environments.rows import find_folder
from learnloop.errors import ParameterError
from learnloop.settings import read_settings
from learnloop.types import Query, Task

LENGTH = 1000
"""Queries of the published stream."""

Shuffling = Literal["shuffled", "given"]


def ds1000(*, libraries: str = "", order: Shuffling = "shuffled", seconds: float = 15.0) -> Dataset:
    """Make the stream of DS-1000 problems. The first time, it runs all references (minutes).

    A query comes with the program that its answer is put into, and with nothing else of its test
    program, which holds the reference.

    Args:
        libraries: Names of the libraries to ask about (`pandas`, `numpy`, `matplotlib`, `sklearn`,
            `scipy`, `pytorch`, `tensorflow`), separated by commas; all where empty.
        order: `shuffled` or `given`.
        seconds: Longest time for one answer, of a processor.
    """
    problems = _problems(libraries)
    passing, excluded = _divide(problems)
    return Dataset(
        edition=Edition(id="ds1000-v1", length=LENGTH, excluded=excluded),
        task=Task(
            name="ds1000",
            role="You solve data-science problems in Python.",
            instructions=INSTRUCTIONS,
            answer_format="Only the code for that place, in one block that begins with ```python.",
            metric="pass@1",
            parse=parse_code,
            query_label="Problem",
            answer_label="Code",
        ),
        items=[_item(each, context=_context(each.runner())) for each in problems],
        grade=PythonTests(passing, seconds=seconds, code_of=out_of_fence),
        order=order,
        demonstrations=demonstrations(),
    )


def ds1000_published(
    *, leaked: bool = False, libraries: str = "", order: Shuffling = "shuffled"
) -> Dataset:
    r"""Make the stream as StreamBench builds it; the sentences are ours, and so is the sandbox.

    Its quirks, each kept here: the program that an answer is put into is shown as the
    representation of a Python list, with `\n` in place of line breaks; every line of the message
    loses its indentation; an answer has 3 seconds; only a closed block that says `python` is read
    as code, anything else is run as it stands, prose and all.

    Args:
        leaked: Show the whole test program, with the reference solution in it, as DRPG's published
            code does. The scores are those of another, far easier task.
        libraries: As for `ds1000`.
        order: `shuffled` or `given`.
    """
    problems = _problems(libraries)
    passing, excluded = _divide(problems)
    return Dataset(
        edition=Edition(
            id="ds1000_leaked-v1" if leaked else "ds1000_published-v1",
            length=LENGTH,
            excluded=excluded,
            remarks=(LEAK,) if leaked else (),
        ),
        task=Task(
            name="ds1000_published",
            role="You are performing a programming task in Python, which a user asks for.",
            instructions=INSTRUCTIONS,
            answer_format="Give the code directly, as one block between ```python and ```.",
            metric="pass@1",
            parse=parse_published_code,
            query_label="The user's requirements",
            answer_label="Your solution in Python code",
        ),
        items=[_published_item(each, leaked=leaked) for each in problems],
        grade=PythonTests(passing, seconds=PUBLISHED_SECONDS, code_of=str, patience=1),
        order=order,
        demonstrations=demonstrations(code_of=out_of_fence),
    )


class PythonTests:
    """Grades code by the test program of its problem, in a sandbox.

    Args:
        problems: The problems that may come.
        seconds: Longest time for one answer, of a processor.
        code_of: Reads the code out of an answer.
        patience: How many times that it may take by the clock.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        seconds: float,
        code_of: Callable[[str], str],
        patience: float = 4.0,
    ) -> None:
        self.seconds = seconds
        self.code_of = code_of
        self._programs = {each.id: each.program for each in problems}
        self._sandbox = PythonSandbox(preload=imported(problems), patience=patience)

    def __call__(self, item: Item, answer: str) -> Graded:
        grade = self._sandbox.grade(
            self._programs[item.query.id], self.code_of(answer), seconds=self.seconds
        )
        return Graded(
            value=float(grade.correct),
            correct=grade.correct,
            why=grade.why + (f": {grade.detail}" if grade.detail else ""),
            comment=_COMMENTS[grade.why].format(detail=grade.detail),
        )


def demonstrations(*, code_of: Callable[[str], str] = str) -> list[Item]:
    """Return four problems of our own with solutions, which are not part of any stream."""
    text = files("learnloop.environments").joinpath("ds1000_demonstrations.json").read_text("utf-8")
    return [
        Item(
            query=Query(
                id=f"ds1000-demonstration-{number}",
                text=each["problem"],
                context=_context(each["runner"]),
                group=each["library"],
            ),
            gold=code_of(in_fence(each["solution"])),
        )
        for number, each in enumerate(json.loads(text), start=1)
    ]


def run_references(*, libraries: str = "", progress: Progress) -> Mapping[int, str]:
    """Run the references that were not run yet, and say how far that is.

    The streams do it themselves, without a word; it takes minutes the first time.

    Args:
        libraries: As for `ds1000`.
        progress: Is told how many are done, and of how many; never where all are known.

    Returns:
        For each problem `passed`, or why its reference does not pass.
    """
    return check_references(_problems(libraries), cache=read_settings().cache, progress=progress)


def _problems(libraries: str) -> list[Problem]:
    """Read the problems on some libraries, separated by commas; on all where that is empty."""
    asked = [name.strip().lower() for name in libraries.split(",") if name.strip()]
    unknown = [name for name in asked if name not in LIBRARIES]
    if unknown:
        raise ParameterError(
            f"libraries: no library {unknown[0]!r}; there are {', '.join(LIBRARIES)}"
        )
    problems = [read_problem(fields) for fields in read_fields(find_folder("ds1000"), *FILES)]
    return [each for each in problems if not asked or each.library in asked]


def _divide(problems: Sequence[Problem]) -> tuple[list[Problem], tuple[str, ...]]:
    """Return the problems whose reference passes here, and the ids of the others."""
    found = check_references(problems, cache=read_settings().cache)
    passing = [each for each in problems if found[each.number] == PASSED]
    return passing, tuple(each.id for each in problems if found[each.number] != PASSED)


def _item(problem: Problem, *, context: str) -> Item:
    return Item(
        query=Query(id=problem.id, text=problem.question(), context=context, group=problem.library),
        gold=in_fence(problem.reference),
    )


def _published_item(problem: Problem, *, leaked: bool) -> Item:
    shown = problem.program if leaked else problem.published_runner()
    return Item(
        query=Query(
            id=problem.id,
            text=_without_indentation(problem.prompt),
            context=f"{PUBLISHED_INTRODUCTION}\n'''\n{_without_indentation(shown)}\n'''",
            group=problem.library,
        ),
        gold=problem.reference,
    )


def _context(runner: str) -> str:
    return f"{INTRODUCTION}\n```python\n{runner}\n```"


def _without_indentation(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


PUBLISHED_SECONDS = 3.0

LEAK = "the reference solution is in the message, so scores say nothing about the benchmark"

INSTRUCTIONS = (
    "Solve the problem with code that takes the place of [insert] in the program that is shown, "
    "indented as that place is. Tests run the program with inputs of their own and compare what "
    "it leaves in its variables, or the figure that it draws, with what was asked for."
)

INTRODUCTION = "The program that your code is put into:"

PUBLISHED_INTRODUCTION = "Your code will be tested in this way:"

_COMMENTS: Mapping[Why, str] = {
    "passed": "",
    "failed": "The result is not the one asked for.",
    "raised": "The code fails: {detail}.",
    "left": "The code ends the program before there is a result.",
    "too slow": "The code takes too long.",
    "too large": "The code takes too much memory.",
    "sandbox lost": "The code could not be run to its end.",
}
"""What a user sees who knows what was asked for, but not the right code."""
