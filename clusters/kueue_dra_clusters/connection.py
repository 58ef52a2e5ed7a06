"""Checks that an API server answers as one before a run, and says in one line why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.existing_cluster import client_of, current_context
from kueue_dra_clusters.waiting import TimedOut, WaitLimits
from kueue_dra_ref.behaviours.releases import minor_of

REASONS: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "401 Unauthorized: it does not accept the credentials of the context; log in again",
    HTTPStatus.FORBIDDEN: "403 Forbidden: the user of the context may not read /version and /apis; check its roles",
}
PAGE = "answers with a web page, not as a Kubernetes API server: a login page or a proxy; log in, or check the address"
PATIENCE = 5.0
"""Seconds to wait for a first answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A cluster that answered: its context, a client, and the minor of its API server, such as ``1.36``."""

    context: str
    objects: APIClient
    version: str
    """As the API server gives it, such as ``v1.36.3``."""

    @property
    def minor(self) -> str:
        """The minor of the API server."""
        return minor_of(self.version)


def connect(context: str, kubeconfig: Path | None, limits: WaitLimits) -> Connection:
    """Connect to the cluster of a context, the current one if it is empty.

    Raises:
        ClusterError: no such context, or the API server does not answer, or not as one; one line says which.

    """
    name = context or current_context(kubeconfig)
    api = client_of(name, kubeconfig)
    address = api.configuration.host
    place = f"context {name}: {address}"
    impatient = replace(limits, ready=PATIENCE, request=PATIENCE)
    first = APIClient(api=api, limits=impatient)
    try:
        version = first.call("GET", "/version")
        groups = first.call("GET", "/apis")
    except TimedOut as late:
        seen = late.seen.removeprefix("0 ")
        raise ClusterError(f"{place} does not answer ({seen})") from None
    for answer in (version, groups):
        if fault := _fault(answer):
            raise ClusterError(f"{place}: {fault}")
    return Connection(
        context=name,
        objects=APIClient(api=api, limits=limits),
        version=str(version.body["gitVersion"]),
    )


def _fault(answer: Answer) -> str:
    """Say why an answer is not that of an API server; empty if it is."""
    if reason := REASONS.get(answer.code):
        return reason
    is_redirect = 300 <= answer.code < 400
    is_page = answer.message.lstrip().lower().startswith(("<!doctype", "<html"))
    if is_redirect or is_page:
        return f"{answer.code}: {PAGE}"
    if not answer.ok:
        first, *_ = answer.message.splitlines() or [""]
        return f"{answer.code} {first[:200]}".strip()
    is_known = "gitVersion" in answer.body or "groups" in answer.body
    return "" if is_known else f"{answer.code}: {PAGE}"
