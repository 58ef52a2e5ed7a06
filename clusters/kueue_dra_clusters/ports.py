"""Reserves free ports on the loopback interface, so that several control planes do not race for them."""

from __future__ import annotations

import errno
import random
import socket
import sys
from types import TracebackType
from typing import Self

from kueue_dra_clusters.errors import ClusterError

LOOPBACK = "127.0.0.1"
CANDIDATES = range(20_000, 32_000)
"""Below the range of ephemeral ports, so that no outgoing connection uses one."""
TRIES = 200


class Ports:
    """Ports that stay ours while this object is open.

    A socket that is bound and never listens holds each port.  On Linux a server that sets SO_REUSEADDR (as every Go
    server does) may listen there nonetheless, while no other process can reserve it.  Elsewhere this class closes the
    socket at once, and a race for the port is possible, but unlikely.
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def reserve(self) -> int:
        """Reserve one more port."""
        for candidate in random.sample(CANDIDATES, TRIES):
            if (holder := _bound(candidate)) is not None:
                self._hold(holder)
                return candidate
        raise ClusterError(
            f"no free port on {LOOPBACK} among {TRIES} tried between 20000 and 31999"
        )

    def close(self) -> None:
        """Release all ports."""
        while self._held:
            self._held.pop().close()

    def _hold(self, holder: socket.socket) -> None:
        """Keep a port reserved, if its server can still listen there."""
        if sys.platform == "linux":
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._held.append(holder)
        else:
            holder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        trouble: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _bound(port: int) -> socket.socket | None:
    """Bind a socket to a port, or give None if the port is in use."""
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.bind((LOOPBACK, port))
    except OSError as trouble:
        holder.close()
        if trouble.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        return None
    return holder
