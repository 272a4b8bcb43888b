"""Owns one sandboxed process from outside: starts it, talks to it, ends it with all it has made."""

from __future__ import annotations

import json
import os
import random
import select
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import IO

from learnloop.environments.graders.python_sandbox_command import INSTALL, sandbox_command
from learnloop.errors import MissingExtraError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one grade may take.

    Attributes:
        seconds: Longest time by the clock.
        processor: Longest time of a processor, in whole seconds.
        memory: Bytes, besides what the libraries take.
    """

    seconds: float
    processor: int
    memory: int


class WorkerLostError(Exception):
    """The sandboxed process ended, or said nothing when it had to; never leaves the sandbox."""


class Worker:
    """One sandbox with the libraries imported, which grades one answer after the other.

    When this object goes, or the program ends in whatever way, the sandbox and every process in
    it are gone too.

    Args:
        preload: Modules to import once.
        search: Folders in which bubblewrap is looked for; where programs are, if `None`.
        clock: Tells seconds.

    Raises:
        MissingExtraError: There is no bubblewrap, or the system does not let it work.
    """

    def __init__(
        self, *, preload: Sequence[str], search: str | None = None, clock: Callable[[], float]
    ) -> None:
        self.clock = clock
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the worker
        self._process = subprocess.Popen(
            sandbox_command(preload, search=search),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,
        )
        self._end = weakref.finalize(self, _end, self._process, self._complaints)
        self._user = random.Random(os.urandom(8)).randrange(2**20, 2**30) if _is_root() else None
        self._check()

    def grade(self, program: str, answer: str, *, limits: Limits) -> tuple[str, str]:
        """Return why an answer is right or wrong, in a word, and a detail for people.

        Raises:
            WorkerLostError: The process is gone; this object cannot be used any more.
        """
        verdict = self._ask(program, answer, limits)
        if verdict["why"] == "broken":
            raise self._lost(verdict["detail"])
        return verdict["why"], verdict["detail"]

    def close(self) -> None:
        """End the sandbox and every process in it."""
        self._end()

    def _check(self) -> None:
        """Grade something that is right: shows that the libraries load and the walls stand."""
        right = "def test_execution(answer):\n    exec(answer, {})\n"
        try:
            verdict = self._ask(right, "", _START)
        except WorkerLostError as error:
            verdict = {"why": "broken", "detail": str(error)}
        if verdict["why"] != "passed":
            self.close()
            raise MissingExtraError(
                f"the sandbox for Python does not work here ({verdict['why']}: "
                f"{verdict['detail']}); it needs bubblewrap (`{INSTALL}`) and a system that "
                "lets it make namespaces"
            )

    def _ask(self, program: str, answer: str, limits: Limits) -> dict[str, str]:
        deadline = self.clock() + limits.seconds + _GRACE
        order = {"program": program, "answer": answer, "user": self._user, **asdict(limits)}
        body = json.dumps(order).encode()
        self._send(struct.pack(">I", len(body)) + body)
        head = self._receive(4, deadline)
        return dict(json.loads(self._receive(struct.unpack(">I", head)[0], deadline)))

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            while data:
                data = data[self._process.stdin.write(data) :]
        except OSError as error:
            raise self._lost("it takes no order") from error

    def _receive(self, count: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        data = b""
        while len(data) < count:
            left = max(0.0, deadline - self.clock())
            if not select.select([self._process.stdout], [], [], left)[0]:
                raise self._lost("it does not answer in time")
            piece = os.read(self._process.stdout.fileno(), count - len(data))
            if not piece:
                raise self._lost("it has ended")
            data += piece
        return data

    def _lost(self, what: str) -> WorkerLostError:
        """End what is left, and say what it complained of last."""
        if not self._complaints.closed:
            self._complaints.seek(0)
            lines = self._complaints.read()[-2000:].decode("utf-8", "replace").splitlines()
            what += f", {lines[-1]!r}" if lines else ""
        self.close()
        return WorkerLostError(what)


def _is_root() -> bool:
    return os.geteuid() == 0


def _end(process: subprocess.Popen[bytes], complaints: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, complaints):
        if stream is not None:
            stream.close()


_GRACE = 10.0
"""Seconds that a verdict may come after its deadline, on a busy machine."""
_START = Limits(seconds=120.0, processor=120, memory=2**28)
