"""Shows a process a folder of ours as its ``/etc``, by Linux user and mount namespaces, so that no root is needed.

A Kueue that does not manage certificates itself reads the metrics server's from a fixed place below ``/etc``.
Given there, it starts within a fraction of a second; its own management takes one to two seconds, however little
there is to do.  Standard library only: the supervisor uses it.
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
    """Give the calling process, which must have one thread, a folder as its ``/etc``; OSError where not allowed."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    _insist(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _insist(libc.mount(folder.encode(), b"/etc", None, MS_BIND, None))


def possible(folder: str) -> bool:
    """Tell whether this machine allows it, by trying in a process that ends at once."""
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
