"""Grades answers in Python by their test programs, in a sandbox whose walls are the kernel's.

What an answer can do, whatever it tries: use one processor for some seconds, some memory, and an
empty folder of its own in memory that is gone afterwards. It has no network, no other process, no
file but the system's libraries, no way to end, change or outlive the process that grades. Each
grade has a process of its own, so that none can touch another.

What it cannot do to its own grade: leave early, write to the grader's channel, replace functions
of the libraries, of Python or of the test, or read the expected result from the frames above. Not
defended: an answer that is written against this very grader and reads its process's raw memory,
leaves hooks that run during the test, or returns an object that claims to equal all. It can make
itself right where it is wrong; the walls hold for it too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from queue import LifoQueue
from typing import Literal, cast

from learnloop.environments.graders.python_sandbox_worker import Limits, Worker, WorkerLostError

VERSION = 1
"""Rises when a grade may come out otherwise."""

Why = Literal["passed", "failed", "raised", "left", "too slow", "too large", "sandbox lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonGrade:
    """Whether the tests pass, why in a few fixed words, and a detail for people.

    `why` is `failed` (other result), `raised`, `left` (before the tests were done), `too slow`,
    `too large`, or `sandbox lost` where the sandbox broke twice on this answer.
    """

    correct: bool
    why: Why
    detail: str = ""


class PythonSandbox:
    """Runs test programs on answers, in processes that have the libraries imported already.

    A test program defines `test_execution(answer)`, and may define `test_string(answer)`; they
    raise where the answer is not right. They run the answer with `exec(code, names)`.

    Safe to call from several threads; up to `workers` grade at the same time.

    Args:
        preload: Modules to import once for all grades, where they are installed.
        workers: Most sandboxes; each is started when it is first needed.
        memory: Bytes that an answer may take, besides the imported libraries.
        search: Folders in which bubblewrap is looked for; where programs are, if `None`.
        patience: How many times its seconds of a processor an answer may take by the clock. With
            more than 1 a grade does not depend on how busy the machine is.
        clock: Tells seconds.

    Examples:
        >>> from learnloop.environments.graders.python_sandbox import PythonSandbox
        >>> test = "def test_execution(answer): exec(answer, names := {}); assert names['x'] == 2"
        >>> sandbox = PythonSandbox()
        >>> sandbox.grade(test, "x = 1 + 1", seconds=5).why  # doctest: +SKIP
        'passed'
    """

    def __init__(
        self,
        *,
        preload: Sequence[str] = (),
        workers: int = 1,
        memory: int = 2**30,
        patience: float = 4.0,
        search: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.preload = tuple(preload)
        self.workers = workers
        self.memory = memory
        self.patience = patience
        self.search = search
        self.clock = clock
        self._free: LifoQueue[Worker | None] = LifoQueue()
        for _ in range(workers):
            self._free.put(None)

    def grade(self, program: str, answer: str, *, seconds: float) -> PythonGrade:
        """Grade one answer. A sandbox that breaks is started anew, and the answer tried again.

        Args:
            program: The test program.
            answer: The code.
            seconds: Longest time of a processor, rounded up.

        Raises:
            MissingExtraError: There is no sandbox on this machine.
        """
        limits = Limits(
            seconds=seconds * self.patience, processor=ceil(seconds), memory=self.memory
        )
        worker = self._free.get()
        why, detail = "sandbox lost", ""
        try:
            for _ in range(_ATTEMPTS):
                worker = worker or self._start()
                try:
                    why, detail = worker.grade(program, answer, limits=limits)
                except WorkerLostError as error:
                    worker, detail = None, str(error)
                else:
                    break
        finally:
            self._free.put(worker)
        return PythonGrade(correct=why == "passed", why=cast("Why", why), detail=detail)

    @contextmanager
    def closing(self) -> Iterator[PythonSandbox]:
        """Close it at the end of a block."""
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        """End the sandboxes that are idle. One is started again where it is needed."""
        for _ in range(self.workers):
            worker = self._free.get()
            if worker is not None:
                worker.close()
            self._free.put(None)

    def _start(self) -> Worker:
        return Worker(preload=self.preload, search=self.search, clock=self.clock)


_ATTEMPTS = 2
