"""Reads a row of DS-1000: the problem, how an answer is run, the tests, the reference.

A row's `code_context` is its test program. It computes the right result, mostly by the reference
solution itself, so that only one constant of it may reach a message: the program that an answer
is put into.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.environments.fields import Fields

FILES = ("ds1000.jsonl",)

LIBRARIES = ("pandas", "numpy", "matplotlib", "sklearn", "scipy", "pytorch", "tensorflow")
"""What a problem is about, as the rows name it, in small letters."""

_TAIL = re.compile(r"\n[ \t]*(?:(?:#+ )?BEGIN SOLUTION|# SOLUTION START)\s*(?:<code>)?\s*\Z")
_LAST_TEXT = re.compile(r'exec_context.*"""', re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One row.

    Attributes:
        number: Its `problem_id`.
        library: One of `LIBRARIES`.
        prompt: What was asked.
        program: The test program; holds the reference.
        reference: The code that is right.
    """

    number: int
    library: str
    prompt: str
    program: str
    reference: str

    @property
    def id(self) -> str:
        """The id of its query."""
        return f"ds1000-{self.number}"

    def question(self) -> str:
        """Return what was asked, without its label and the marker before the place of an answer."""
        return _TAIL.sub("", self.prompt.rstrip()).removeprefix("Problem:").strip()

    def runner(self) -> str:
        """Return the program that an answer is put into, in place of `[insert]`."""
        with warnings.catch_warnings(action="ignore"):  # of the tests, which are as they are
            statements = ast.parse(self.program).body
        for statement in statements:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == _NAME:
                return str(ast.literal_eval(statement.value)).strip()
        return ""

    def published_runner(self) -> str:
        """Return the same as it stands in published messages: a list of a piece of source."""
        return str(_LAST_TEXT.findall(self.program))


def read_problem(fields: Fields) -> Problem:
    """Read one row.

    Raises:
        DataError: A field is missing or not what it must be.
    """
    metadata = fields.row.get("metadata")
    if not isinstance(metadata, dict):
        raise fields.error("metadata", "must be an object")
    library = str(metadata.get("library")).lower()
    if library not in LIBRARIES:
        raise fields.error("metadata.library", f"must be one of {LIBRARIES}", value=library)
    if not isinstance(metadata.get("problem_id"), int):
        raise fields.error("metadata.problem_id", "must be a number")
    fields.text("reference_code")
    program = fields.text("code_context")
    if "def test_execution(" not in program or "[insert]" not in program:
        raise fields.error("code_context", "must define test_execution and hold [insert]")
    return Problem(
        number=metadata["problem_id"],
        library=library,
        prompt=fields.text("prompt"),
        program=program,
        reference=str(fields.row["reference_code"]),
    )


def imported(problems: Sequence[Problem]) -> tuple[str, ...]:
    r"""Return the modules that the test programs import, and what may be a module in them.

    Examples:
        >>> program = "import numpy as np\nfrom scipy import stats"
        >>> imported([Problem(number=1, library="", prompt="", program=program, reference="")])
        ('numpy', 'scipy', 'scipy.stats')
    """
    names: set[str] = set()
    for problem in problems:
        for package, member, module in _IMPORT.findall(problem.program):
            names |= {module} if module else {package, f"{package}.{member}"}
    return tuple(sorted(names))


_NAME = "exec_context"
_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\w+)|import ([\w.]+))", re.M)
