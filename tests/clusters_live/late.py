"""A webhook that lets through whatever Kueue writes, but some of it late."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.certificates import Authority
from kueue_dra_clusters.manifests import NAMESPACE
from kueue_dra_clusters.ports import LOOPBACK
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.target import Manifest, Ref

GROUP = "admissionregistration.k8s.io/v1"
KIND = "ValidatingWebhookConfiguration"
RULES = [
    {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": resources}
    for group, resources in (
        ("kueue.x-k8s.io", ["workloads", "workloads/status", "clusterqueues/status", "localqueues/status"]),
        ("batch", ["jobs", "jobs/status"]),
        ("", ["configmaps"]),
    )
]
REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
KUEUE = f"system:serviceaccount:{NAMESPACE}:"
PROBE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}


@contextmanager
def late_writes(objects: APIClient, folder: Path, delay: Callable[[Manifest], float]) -> Iterator[list[str]]:
    """Hold back each write of Kueue for as many seconds as ``delay`` says of its AdmissionRequest.

    The list names each object whose write was held back.
    """
    authority, held, probed = Authority("late-ca"), list[str](), threading.Event()

    def answer(asked: Manifest) -> None:
        if asked["resource"]["resource"] == "configmaps":
            probed.set()
        elif asked["userInfo"]["username"].startswith(KUEUE) and (seconds := delay(asked)):
            held.append(asked["name"])
            threading.Event().wait(seconds)

    def reached() -> None:
        objects.call("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", PROBE)
        if not probed.is_set():
            raise NotYet("the API server does not ask yet")

    with ExitStack() as open_ones:
        server = open_ones.enter_context(ThreadingHTTPServer((LOOPBACK, 0), _handler(answer)))
        context = _context(authority, folder)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        open_ones.callback(server.shutdown)
        assert objects.create(_configuration(server.server_port, authority)).ok
        open_ones.callback(objects.delete, Ref(api_version=GROUP, kind=KIND, name="late"))
        eventually(reached, within=objects.limits.ready, what="the API server to ask the webhook")
        yield held


def _handler(answer: Callable[[Manifest], None]) -> type[BaseHTTPRequestHandler]:
    """Allow whatever is asked for, once it was answered."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            answer(asked)
            body = json.dumps({**REVIEW, "response": {"uid": asked["uid"], "allowed": True}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    return Handler


def _context(authority: Authority, folder: Path) -> ssl.SSLContext:
    pair, file = authority.vouch_for(LOOPBACK), folder / "late.pem"
    file.touch(mode=0o600)
    file.write_bytes(pair.key + pair.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _configuration(port: int, authority: Authority) -> Manifest:
    bundle = base64.b64encode(authority.pair.certificate).decode()
    hook = {
        "name": "late.example.com",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 10,
        "failurePolicy": "Ignore",
        "clientConfig": {"url": f"https://{LOOPBACK}:{port}/", "caBundle": bundle},
        "rules": RULES,
    }
    return {"apiVersion": GROUP, "kind": KIND, "metadata": {"name": "late"}, "webhooks": [hook]}
