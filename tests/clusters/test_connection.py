"""What answers in place of an API server is one line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import kueue_dra

PAGE = "<!DOCTYPE html><html><title>Log in</title></html>"
STATUS = '{"kind": "Status", "message": "%s", "code": %d}'


@contextmanager
def a_server(code: int, body: str, **headers: str) -> Iterator[str]:
    """Give the address of a server with the same answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("code", "body", "answer"),
    [
        pytest.param(401, STATUS % ("Unauthorized", 401), "401 Unauthorized: it does not accept the", id="401"),
        pytest.param(403, STATUS % ("forbidden", 403), "403 Forbidden: the user of the context may not", id="403"),
        pytest.param(200, PAGE, "200: answers with a web page, not as a Kubernetes API server", id="login-page"),
        pytest.param(302, "", "302: answers with a web page, not as a Kubernetes API server", id="redirect"),
        pytest.param(404, STATUS % ("no such page", 404), "404 no such page", id="404"),
        pytest.param(200, "{}", "200: answers with a web page, not as", id="something-else"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--preflight",)], ids=["run", "preflight"])
def test_an_answer_that_is_none_is_one_line(
    tmp_path: Path, code: int, body: str, answer: str, more: tuple[str, ...]
) -> None:
    """With the context and the address; exit code 2."""
    with a_server(code, body, Location="/login") as address:
        file = a_kubeconfig(tmp_path, address)
        done = kueue_dra("run", "--target", "kueue", "--context", "mine", "--kubeconfig", str(file), *more)

    assert done.exit_code == 2
    (line,) = filter(None, (done.stdout + done.stderr).splitlines())
    assert f"context mine: {address}: {answer}" in line


@pytest.mark.parametrize("more", [(), ("--preflight",)], ids=["run", "preflight"])
def test_a_server_that_is_not_there_is_one_line(tmp_path: Path, more: tuple[str, ...]) -> None:
    """It waits a few seconds for one that just starts."""
    file = a_kubeconfig(tmp_path)
    done = kueue_dra("run", "--target", "kueue", "--context", "mine", "--kubeconfig", str(file), *more)

    assert done.exit_code == 2
    (line,) = filter(None, (done.stdout + done.stderr).splitlines())
    assert "context mine: https://127.0.0.1:1 does not answer" in line
    assert len(line) < 200


def test_options_of_a_cluster_need_one() -> None:
    """They would have no effect."""
    for option in ("--preflight", "--roles=a.yaml", "--kubeconfig=a", "--kueue-namespace=a"):
        done = kueue_dra("run", option)

        assert done.exit_code == 2
        assert "needs --target kueue --context NAME" in done.stderr
