"""Asks the kernel for walls that Python has no words for: namespaces, capabilities, system calls.

Runs inside the sandbox too, where nothing of this package but its own file is to be had, so it
imports the standard library only.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

NEW_MOUNTS = 0x00020000
NEW_IPC = 0x08000000
NEW_PIDS = 0x20000000


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name; new processes are born into the new ones.

    Raises:
        OSError: It is not allowed.
    """
    _check(_libc().unshare(flags), "unshare")


def mount_empty(path: str, *, options: str, read_only: bool = False) -> None:
    """Put an empty file system, which lives in memory, over a folder.

    Raises:
        OSError: It is not allowed.
    """
    flags = _NOSUID | _NODEV | (_READ_ONLY if read_only else 0)
    done = _libc().mount(b"tmpfs", path.encode(), b"tmpfs", flags, options.encode())
    _check(done, f"mount on {path}")


def mount_processes() -> None:
    """Show at /proc this world's processes only, or nothing where that is not allowed.

    Raises:
        OSError: Neither is allowed.
    """
    flags = _NOSUID | _NODEV | _NOEXEC | _READ_ONLY
    if _libc().mount(b"proc", b"/proc", b"proc", flags, b"") != 0:
        mount_empty("/proc", options="size=4k,mode=555", read_only=True)


def keep_mounts_private() -> None:
    """Let no mount of this namespace be seen in another.

    Raises:
        OSError: It is not allowed.
    """
    _check(_libc().mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "make mounts private")


def drop_capabilities() -> None:
    """Give up every capability for good, for this process and what it may become.

    Raises:
        OSError: It is not allowed.
    """
    _check(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _check(_libc().prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0), "clear ambient capabilities")
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _check(_libc().capset(header, bytes(24)), "capset")


def forbid_inspection() -> None:
    """Let no other process of this user read or write this one's memory.

    Raises:
        OSError: It is not allowed.
    """
    _check(_libc().prctl(_DUMPABLE, 0, 0, 0, 0), "not dumpable")


def restrict_system_calls() -> None:
    """Refuse system calls that code of a data-science answer has no use for.

    No new process (threads are allowed), no other program, no socket, no memory outside the
    limits of a process, and none of the calls that reach deep into the kernel.

    Raises:
        OSError: The kernel does not filter, or the machine is of an unknown kind.
    """
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(f"no system-call filter for {machine!r}; known are {sorted(_MACHINES)}")
    program = _filter(*_MACHINES[machine])
    buffer = ctypes.create_string_buffer(program, len(program))
    count = len(program) // 8
    packed = struct.pack("@HP", count, ctypes.addressof(buffer))
    _check(_libc().prctl(_SECCOMP, _SECCOMP_FILTER, packed, 0, 0), "seccomp")


def virtual_bytes() -> int:
    """Return how much address space this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def counts_own_processes() -> bool:
    """Return whether a limit on processes counts those of the sandbox alone.

    It does for a user id that nobody else has, and in a user namespace since Linux 5.14; before,
    it would count all that the user runs.
    """
    release = platform.release().split(".")
    return os.geteuid() == 0 or (int(release[0]), int(release[1])) >= (5, 14)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _filter(architecture: int, column: int) -> bytes:
    """Return the filter as a program for the kernel's packet filter."""
    refuse = _step(_RETURN, value=_ERRNO | _EPERM)
    program = [
        _step(_LOAD, value=_OFFSET_ARCHITECTURE),
        _step(_EQUAL, yes=1, no=0, value=architecture),
        _step(_RETURN, value=_KILL),
        _step(_LOAD, value=_OFFSET_NUMBER),
        _step(_AT_LEAST, yes=0, no=1, value=_X32),
        refuse,
        _step(_EQUAL, yes=0, no=1, value=_CLONE3),
        _step(_RETURN, value=_ERRNO | _ENOSYS),
    ]
    for numbers in _REFUSED.values():
        if numbers[column] >= 0:
            program += [_step(_EQUAL, yes=0, no=1, value=numbers[column]), refuse]
    program += [
        _step(_EQUAL, yes=0, no=3, value=_CLONE[column]),
        _step(_LOAD, value=_OFFSET_FIRST_ARGUMENT),
        _step(_ANY_BIT, yes=1, no=0, value=_CLONE_THREAD),
        refuse,
        _step(_RETURN, value=_ALLOW),
    ]
    return b"".join(program)


def _step(code: int, *, yes: int = 0, no: int = 0, value: int) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


_NOSUID, _NODEV, _NOEXEC, _READ_ONLY = 2, 4, 8, 1
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_NO_NEW_PRIVILEGES, _DUMPABLE, _SECCOMP, _SECCOMP_FILTER = 38, 4, 22, 2
_AMBIENT, _AMBIENT_CLEAR = 47, 4
_CAPABILITY_VERSION = 0x20080522
_EPERM, _ENOSYS = 1, 38
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Machine -> the kernel's number of its architecture, and its column in the tables below."""

_CLONE = (56, 220)
_CLONE3 = 435
"""Its flags cannot be seen by a filter; without it the C library makes threads with `clone`."""

_REFUSED = {
    "fork": (57, -1),
    "vfork": (58, -1),
    "execve": (59, 221),
    "execveat": (322, 281),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "personality": (135, 92),
    "syslog": (103, 116),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
}
