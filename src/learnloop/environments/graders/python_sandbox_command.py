"""Says how bubblewrap is called: what of this machine the sandbox sees, which is little.

It sees the Python that runs this program, its installed packages and the system's libraries, all
read-only; no home folder, no working directory, no data, no network, no environment variables.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from learnloop.environments.graders import python_sandbox_inside, python_sandbox_kernel
from learnloop.errors import MissingExtraError

INSTALL = "apt-get install bubblewrap"
"""What installs the sandbox."""


def sandbox_command(preload: Sequence[str], *, search: str | None = None) -> list[str]:
    """Return the command that starts a worker in a new sandbox.

    Args:
        preload: Modules to import once, for all grades.
        search: Folders in which bubblewrap is looked for; where programs are, if `None`.

    Raises:
        MissingExtraError: There is no bubblewrap.
    """
    bubblewrap = shutil.which("bwrap", path=search)
    if bubblewrap is None:
        raise MissingExtraError(
            "answers in Python run in a sandbox only, and there is no bwrap (bubblewrap) here; "
            f"install it with `{INSTALL}`"
        )
    program = _inside(python_sandbox_inside.__name__)
    interpreter = str(Path(sys.executable).resolve())
    return [
        bubblewrap,
        *_WALLS,
        *([] if os.geteuid() == 0 else ["--unshare-user"]),
        *_system(),
        *_python(),
        *["--remount-ro", "/dev", "--remount-ro", "/"],
        *_environment(),
        *[interpreter, "-B", "-S", "-P", program, ",".join(preload)],
    ]


def _system() -> list[str]:
    """Return the mounts of what programs need of the system."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "lib32", "bin", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for path in map(Path, _CONFIGURATION):
        words += ["--ro-bind-try", str(path), str(path)]
    return [*words, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]


def _python() -> list[str]:
    """Return the mounts of the interpreter, the installed packages and the program itself."""
    mounts = {
        str(folder): folder
        for folder in (Path(sys.base_prefix).resolve(), *_packages())
        if not folder.is_relative_to("/usr")
    }
    for module in (python_sandbox_inside, python_sandbox_kernel):
        mounts[_inside(module.__name__)] = Path(str(module.__file__)).resolve()
    words = []
    for place, source in mounts.items():
        for parent in reversed(Path(place).parents[:-1]):
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", str(source), place]
    return words


def _packages() -> list[Path]:
    return [
        Path(entry).resolve()
        for entry in sys.path
        if Path(entry).name in ("site-packages", "dist-packages") and Path(entry).is_dir()
    ]


def _environment() -> list[str]:
    path = ":".join([_HERE, *map(str, _packages())])
    variables = {**_VARIABLES, "PYTHONPATH": path}
    return ["--clearenv"] + [
        word for name, value in variables.items() for word in ("--setenv", name, value)
    ]


def _inside(module: str) -> str:
    return f"{_HERE}/{module.replace('.', '/')}.py"


_HERE = "/grader"
_CONFIGURATION = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/alternatives", "/etc/fonts")
_WALLS = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--hostname", "sandbox"),
    *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_KILL"),
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
)
_VARIABLES = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "JOBLIB_MULTIPROCESSING": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TZ": "UTC",
}
"""One thread a library, no second process, no gigabyte of addresses set aside by Arrow: what an
answer may have is bounded for one process."""
