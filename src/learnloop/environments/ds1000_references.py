"""Finds the problems of DS-1000 whose own reference passes here, and remembers them.

Libraries change, and references that were right fail with newer ones: no answer could be right
there. What passed is kept in the user's cache, under the versions of everything that decides it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from filelock import FileLock

from learnloop.environments.ds1000_rows import Problem, imported
from learnloop.environments.graders.python_sandbox import VERSION, PythonSandbox

Progress = Callable[[int, int], None]
"""Is told how many are done, and of how many."""

PASSED = "passed"

SECONDS = 10.0
"""Longest time of a processor for a reference: less than an answer gets, so none is at its edge."""

MODULES = {"pytorch": "torch", "tensorflow": "tensorflow"}
"""The package of a library that has no place among the dependencies."""


def check_references(
    problems: Sequence[Problem],
    *,
    cache: Path,
    workers: int = 2,
    progress: Progress = lambda done, total: None,
) -> Mapping[int, str]:
    """Return for each problem `passed`, or in a few words why its reference does not pass.

    What is in the cache is not run again. The rest takes a tenth of a second a problem and
    processor; each tenth of it is remembered at once, so that little is lost if it is stopped.

    Args:
        problems: The problems.
        cache: The user's cache folder.
        workers: How many are run at the same time.
        progress: Is told how far it is.

    Raises:
        MissingExtraError: There is no sandbox on this machine.
    """
    path = _file(cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        known = _read(path)
        left = [each for each in problems if _key(each) not in known]
        if left:
            _run(left, known, path, workers=workers, progress=progress)
    return {each.number: known[_key(each)] for each in problems}


def are_known(cache: Path, *, count: int) -> bool:
    """Whether so many references were run here already, so that nobody has to wait for them."""
    return len(_read(_file(cache))) >= count


def _file(cache: Path) -> Path:
    return cache / "ds1000" / f"references-{_conditions()}.json"


def _run(
    problems: Sequence[Problem],
    known: dict[str, str],
    path: Path,
    *,
    workers: int,
    progress: Progress,
) -> None:
    """Run references and write what came out into the cache."""
    sandbox = PythonSandbox(preload=imported(problems), workers=workers)
    try:
        with ThreadPoolExecutor(workers) as threads:
            results = threads.map(lambda each: _grade(each, sandbox), problems)
            for done, (problem, result) in enumerate(zip(problems, results, strict=True), start=1):
                known[_key(problem)] = result
                progress(done, len(problems))
                if done % _SAVE_EVERY == 0 or done == len(problems):
                    _write(path, known)
    finally:
        sandbox.close()


def _grade(problem: Problem, sandbox: PythonSandbox) -> str:
    package = MODULES.get(problem.library)
    if package is not None and _version(package) == _ABSENT:
        return f"{package} is not installed"
    grade = sandbox.grade(problem.program, problem.reference, seconds=SECONDS)
    return grade.why + (f": {grade.detail}" if grade.detail else "")


def _conditions() -> str:
    """Return a short name of all that decides whether a reference passes."""
    parts = [f"grader {VERSION}", f"python {platform.python_version()}"]
    parts += [f"{name} {_version(name)}" for name in _DECIDING]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return _ABSENT


def _key(problem: Problem) -> str:
    text = f"{problem.program}\0{problem.reference}"
    return f"{problem.number}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _read(path: Path) -> dict[str, str]:
    """Return what is known; nothing where the file is not there or was cut off."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in known.items()}


def _write(path: Path, known: Mapping[str, str]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
    new.replace(path)


_ABSENT = "absent"
_SAVE_EVERY = 50
_DECIDING = (
    *("numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "seaborn", "pillow"),
    *("statsmodels", "xgboost", "lmfit", "pyyaml", "gensim", "pyarrow", "torch", "tensorflow"),
)
