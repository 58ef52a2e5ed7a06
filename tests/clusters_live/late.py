"""A webhook that lets through whatever Kueue writes of some namespaces, but late."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from clusters.certificates import Authority
from clusters.objects import Objects
from clusters.ports import LOOPBACK
from clusters.waiting import NotYet, eventually
from kueue_dra_ref.target import Manifest, Ref

GROUP = "admissionregistration.k8s.io/v1"
KIND = "ValidatingWebhookConfiguration"
RULES = [
    {"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]}
    for group, operation, resource in (("kueue.x-k8s.io", "UPDATE", "workloads/status"), ("", "CREATE", "configmaps"))
]
PROBE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}


@contextmanager
def late_writes(
    objects: Objects, folder: Path, namespace: str, is_late: Callable[[Manifest], bool], seconds: float
) -> Iterator[list[str]]:
    """Hold back for so many seconds each write of a Workload's status that `is_late` picks by its AdmissionRequest.

    The list names each Workload whose write was held back.
    """
    authority, held, probed = Authority("late-ca"), list[str](), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            if asked["resource"]["resource"] == "configmaps":
                probed.set()
            elif is_late(asked):
                held.append(asked["name"])
                threading.Event().wait(seconds)
            answer = {"uid": asked["uid"], "allowed": True}
            body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    def reached() -> None:
        objects.call("POST", f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All", PROBE)
        if not probed.is_set():
            raise NotYet("the API server does not ask yet")

    with ExitStack() as held_open:
        server = held_open.enter_context(ThreadingHTTPServer((LOOPBACK, 0), Handler))
        server.socket = _context(authority, folder).wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        held_open.callback(server.shutdown)
        assert objects.create(_configuration(server.server_port, authority, namespace)).ok
        held_open.callback(objects.delete, Ref(api_version=GROUP, kind=KIND, name="late"))
        eventually(reached, within=objects.limits.ready, what="the API server to ask the webhook")
        yield held


def _context(authority: Authority, folder: Path) -> ssl.SSLContext:
    pair, file = authority.vouch_for(LOOPBACK), folder / "late.pem"
    file.touch(mode=0o600)
    file.write_bytes(pair.key + pair.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _configuration(port: int, authority: Authority, namespace: str) -> Manifest:
    bundle = base64.b64encode(authority.pair.certificate).decode()
    hook = {
        "name": "late.example.com",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "clientConfig": {"url": f"https://{LOOPBACK}:{port}/", "caBundle": bundle},
        "rules": RULES,
    }
    return {"apiVersion": GROUP, "kind": KIND, "metadata": {"name": "late"}, "webhooks": [hook]}
