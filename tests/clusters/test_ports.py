"""Reserved ports stay ours until their server listens."""

from __future__ import annotations

import socket
import sys

import pytest

from kueue_dra_clusters import ports
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.ports import LOOPBACK, Ports

holds = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a reserved port be listened on")


def a_server(port: int) -> socket.socket:
    """Listen as a Go server does."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((LOOPBACK, port))
    server.listen()
    return server


@holds
def test_nobody_else_reserves_a_reserved_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two control planes that try the same ports get different ones."""
    with Ports() as mine, Ports() as theirs:
        taken = mine.reserve()
        monkeypatch.setattr(ports, "CANDIDATES", [taken])
        monkeypatch.setattr(ports, "TRIES", 1)

        with pytest.raises(ClusterError, match="no free port"):
            theirs.reserve()


@holds
def test_the_server_of_a_reserved_port_listens_there() -> None:
    """The reservation does not block the process that it is for."""
    with Ports() as mine:
        port = mine.reserve()
        with a_server(port), socket.create_connection((LOOPBACK, port), timeout=5) as client:
            assert client.getpeername() == (LOOPBACK, port)


def test_a_port_in_use_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A race that was lost means another port, not a failure."""
    with Ports() as mine, Ports() as scout:
        busy, free = scout.reserve(), scout.reserve()
        scout.close()
        monkeypatch.setattr(ports, "CANDIDATES", [busy, free])
        monkeypatch.setattr(ports, "TRIES", 2)
        with a_server(busy):
            assert mine.reserve() == free


def test_a_closed_reservation_lets_its_ports_go() -> None:
    """The reserved port is free afterwards."""
    with Ports() as mine:
        port = mine.reserve()

    with a_server(port):
        pass
