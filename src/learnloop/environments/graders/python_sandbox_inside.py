"""The program that runs inside the sandbox: imports the libraries once, then forks for each grade.

Four generations: *zygote* (has the libraries, takes orders), *warden* (one a grade, waits with a
deadline and says the verdict), *examined* (the first process of a world of its own: no other
process to be seen, an empty folder, no privileges, limits), and within that a thread in which the
answer runs, so that the frames of the test are not above it.

A grade is right if the examined process writes, after the tests have returned, a token drawn for
this grade; whatever else it writes, or leaving early, is wrong. Here only the standard library
and `python_sandbox_kernel` can be imported from outside the libraries of the tests.
"""

from __future__ import annotations

import contextlib
import contextvars
import gc
import importlib
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from _thread import allocate_lock, start_new_thread
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

from learnloop.environments.graders.python_sandbox_kernel import (
    NEW_IPC,
    NEW_MOUNTS,
    NEW_PIDS,
    counts_own_processes,
    drop_capabilities,
    forbid_inspection,
    keep_mounts_private,
    mount_empty,
    mount_processes,
    restrict_system_calls,
    unshare,
    virtual_bytes,
)


def main() -> None:
    """Import the libraries named on the command line, then obey orders until there are no more."""
    for name in filter(None, sys.argv[1].split(",")):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in _GUARDED_PACKAGES:
        if name.partition(".")[0] in sys.modules:
            importlib.import_module(name)
    _draw_once()
    _seed()
    guard = _Guard()
    forbid_inspection()
    gc.collect()
    gc.freeze()
    while (order := _read(0)) is not None:
        _write(1, _grade(order, guard))


def _grade(order: dict[str, Any], guard: _Guard) -> dict[str, Any]:
    """Have a warden grade, and return its verdict once it is gone."""
    reading, writing = os.pipe()
    warden = os.fork()
    if warden == 0:
        _watch(order, guard, writing)
    os.close(writing)
    verdict = _read(reading)
    os.close(reading)
    _, status = os.waitpid(warden, 0)
    return verdict or {"why": "broken", "detail": f"the warden left with status {status}"}


def _draw_once() -> None:
    """Have matplotlib load its fonts and its renderer, which it does with its first figure."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.plot([0, 1])
        pyplot.title("1")
        pyplot.savefig(os.devnull, format="png")
        pyplot.close("all")


def _seed() -> None:
    """Begin the global random streams, so that the same answer gets the same grade."""
    importlib.import_module("random").seed(0)
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random").seed(0)


def _watch(order: dict[str, Any], guard: _Guard, verdict: int) -> NoReturn:
    """Wait for the examined process, not longer than its deadline, and say the verdict."""
    deadline = time.perf_counter() + order["seconds"]
    token = os.urandom(32)
    reading, writing = os.pipe()
    limit = virtual_bytes() + order["memory"]
    unshare(NEW_PIDS | NEW_MOUNTS | NEW_IPC)
    examined = os.fork()
    if examined == 0:
        _examine(order, guard, token, writing, limit)
    os.close(writing)
    said, in_time = _listen(reading, deadline)
    os.kill(examined, signal.SIGKILL)
    _, status = os.waitpid(examined, 0)
    _write(verdict, _verdict(said, token, status, in_time=in_time))
    os._exit(0)


def _listen(reading: int, deadline: float) -> tuple[bytes, bool]:
    """Read until the examined process has nothing more to say; whether it was done in time."""
    said = b""
    while (left := deadline - time.perf_counter()) > 0 and len(said) < _MOST_SAID:
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, _MOST_SAID)
            if not piece:
                return said, True
            said += piece
    return said, False


def _verdict(said: bytes, token: bytes, status: int, *, in_time: bool) -> dict[str, str]:
    if said == token:
        return {"why": "passed", "detail": ""}
    if said:
        return _stated(said)
    if not in_time or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return {"why": "too slow", "detail": ""}
    return {"why": "left", "detail": f"status {os.waitstatus_to_exitcode(status)}"}


def _stated(said: bytes) -> dict[str, str]:
    """Read what the examined process says of itself, which may be anything but right."""
    why, _, detail = said.decode("utf-8", "replace").partition(": ")
    if why not in _WHYS:
        return {"why": "left", "detail": "an unknown message in place of a result"}
    return {"why": why, "detail": detail}


def _examine(
    order: dict[str, Any], guard: _Guard, token: bytes, writing: int, limit: int
) -> NoReturn:
    """Confine this process, run the tests, write the token or why there is none."""
    write, leave = os.write, os._exit
    confined, tested = _Outcome(), _Outcome()
    with confined:
        _confine(writing, order, limit)
    if confined.error is not None:
        write(writing, f"broken: {confined.error}".encode())
        leave(0)
    sys.addaudithook(_refuse_introspection)
    sys.modules["__main__"] = ModuleType("__main__")
    with tested:
        _test(order["program"], order["answer"], guard)
    write(writing, token if tested.error is None else _describe(tested.error))
    leave(0)


def _describe(error: BaseException) -> bytes:
    """Say what an answer raised; its class may be its own, so that telling may fail too."""
    why = next((why for kind, why in _REASONS if isinstance(error, kind)), "raised")
    said, description = f"{why}: ", _Outcome()
    with description:
        said += f"{type(error).__name__}: {error}"[:_MOST_DETAIL]
    return said.encode("utf-8", "replace")


def _confine(writing: int, order: dict[str, Any], limit: int) -> None:
    """Shut this process in: files, folders, user, limits, capabilities, system calls."""
    keep_mounts_private()
    mount_empty("/tmp", options=_TMP)
    processes = counts_own_processes()
    mount_processes()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.closerange(3, writing)
    os.closerange(writing + 1, _MOST_FILES)
    os.setsid()
    os.chdir("/tmp")
    if order["user"] is not None:
        os.setgroups([])
        os.setresgid(order["user"], order["user"], order["user"])
        os.setresuid(order["user"], order["user"], order["user"])
    for what, most in (
        (resource.RLIMIT_AS, limit),
        (resource.RLIMIT_CPU, order["processor"]),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_CORE, 0),
        *(((resource.RLIMIT_NPROC, _MOST_THREADS),) if processes else ()),
    ):
        resource.setrlimit(what, (most, most))
    drop_capabilities()
    restrict_system_calls()


def _test(program: str, answer: str, guard: _Guard) -> None:
    """Run a test program on an answer; it raises where the answer is not right."""
    module: dict[str, Any] = {}

    def run_aside(code: str | CodeType, names: dict[str, Any]) -> None:
        kept = dict(module)
        error = _run_aside(code, names)
        guard.restore()
        module.update(kept)
        if error is not None:
            raise error

    module["exec"] = run_aside
    exec(program, module)
    module["test_execution"](answer)
    if "test_string" in module:
        module["test_string"](answer)


def _run_aside(code: str | CodeType, names: dict[str, Any]) -> BaseException | None:
    """Run an answer in a thread of its own, above which there is no frame but `_body`."""
    errors: list[BaseException] = []
    done = allocate_lock()
    done.acquire()
    body = FunctionType(_body.__code__, {"__builtins__": __builtins__})
    start_new_thread(contextvars.copy_context().run, (body, code, names, errors, done.release))
    done.acquire()
    return errors[0] if errors else None


def _body(code: Any, names: Any, errors: Any, release: Any) -> None:
    try:
        exec(code, names)
    except BaseException as error:  # noqa: BLE001  an answer may raise anything
        errors.append(error)
    finally:
        release()


class _Outcome:
    """Catches what a block raises, whatever it is: `error` is `None` if it came to its end."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.error = error
        return True


class _Guard:
    """Remembers the functions and classes that tests compare with, to put them back.

    Not those of all libraries: each that is looked at is memory that a grade no longer shares.
    """

    def __init__(self) -> None:
        self._imported = dict(sys.modules)
        self._modules = [
            (vars(module), {name: value for name, value in vars(module).items() if callable(value)})
            for name, module in self._imported.items()
            if name in _GUARDED or name.startswith(_GUARDED_PACKAGES)
        ]
        found = [
            each
            for _, kept in self._modules
            for value in kept.values()
            if isinstance(value, type)
            for each in value.__mro__
            if each.__flags__ & _HEAP_TYPE
        ]
        self._classes = [
            (each, {name: value for name, value in vars(each).items() if callable(value)})
            for each in dict.fromkeys(found)
        ]

    def restore(self) -> None:
        """Put back what has been replaced; what is new may stay."""
        for name, module in self._imported.items():
            if name != "__main__" and sys.modules.get(name) is not module:
                sys.modules[name] = module
        for names, kept in self._modules:
            for name, value in kept.items():
                if names.get(name) is not value:
                    names[name] = value
        for owner, kept in self._classes:
            current = vars(owner)
            for name, value in kept.items():
                if current.get(name) is not value:
                    setattr(owner, name, value)


def _refuse_introspection(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _INTROSPECTION or event == "object.__setattr__" and arguments[1] == "__code__":
        raise PermissionError(f"{event} is not allowed here")


def _read(stream: int) -> dict[str, Any] | None:
    """Read one message; `None` at the end."""
    head = _read_exactly(stream, 4)
    if head is None:
        return None
    body = _read_exactly(stream, struct.unpack(">I", head)[0])
    return None if body is None else dict(json.loads(body))


def _read_exactly(stream: int, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        piece = os.read(stream, count - len(data))
        if not piece:
            return None
        data += piece
    return data


def _write(stream: int, message: dict[str, str]) -> None:
    body = json.dumps(message).encode()
    os.write(stream, struct.pack(">I", len(body)) + body)


_MOST_SAID = 4096
_MOST_DETAIL = 400
_MOST_FILES = 128
_MOST_THREADS = 64
_FILE_BYTES = 32 * 2**20
_TMP = "size=64m,nr_inodes=2000,mode=1777"
_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (AssertionError, "failed"),
    (MemoryError, "too large"),
    (SystemExit, "left"),
    (KeyboardInterrupt, "left"),
)
_WHYS = ("failed", "raised", "left", "too large", "broken")
_HEAP_TYPE = 1 << 9
_GUARDED = ("builtins", "copy", "io", "tokenize", "math", "PIL.Image", "numpy", "pandas")
_GUARDED_PACKAGES = ("numpy.testing", "pandas.testing", "pandas._testing")
_INTROSPECTION = frozenset(
    {
        "gc.get_objects",
        "gc.get_referrers",
        "gc.get_referents",
        "sys._current_frames",
        "sys._current_exceptions",
        "sys.monitoring.register_callback",
    }
)

if __name__ == "__main__":
    main()
