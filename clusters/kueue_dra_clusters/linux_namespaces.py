"""Mounts a folder as ``/etc`` of one process, by Linux user and mount namespaces, without root.

A Kueue that does not manage certificates itself reads those of the metrics server from a fixed path below ``/etc``.
With them, it starts within a fraction of a second; its own certificate management takes one to two seconds.
Standard library only: the supervisor uses it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUSER = 0x1000_0000
MS_BIND = 0x1000


def see_as_etc(folder: str) -> None:
    """Mount a folder as ``/etc`` of the calling process, which must have one thread; OSError if not allowed."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    _insist(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _insist(libc.mount(folder.encode(), b"/etc", None, MS_BIND, None))


def possible(folder: str) -> bool:
    """Whether this machine allows it, by trying in a process that exits at once."""
    if sys.platform != "linux":
        return False
    child = os.fork()
    if child == 0:
        try:
            see_as_etc(folder)
        except BaseException:  # noqa: BLE001 a forked copy must not return, whatever happens
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0


def _insist(result: int) -> None:
    """Turn a C function's failure into an OSError."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
