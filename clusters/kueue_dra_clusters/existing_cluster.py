"""An existing cluster as a target: found by kubeconfig context, checked, and cleaned up at the end."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import config
from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import APIClient, RequestRejected
from kueue_dra_clusters.binaries import KUEUE_VARIABLE
from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.installation import ClusterFacts
from kueue_dra_clusters.kueue_process import ROLE
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.manager_config import check
from kueue_dra_clusters.ownership import NotOwned
from kueue_dra_clusters.preflight import RUN_LABEL, lacks
from kueue_dra_clusters.releases import release, release_of_any
from kueue_dra_clusters.waiting import (
    NotYet,
    Pauses,
    TimedOut,
    WaitLimits,
    eventually,
    limits_of,
)
from kueue_dra_ref.target import FieldError, Manifest, Ref, Rejection

NO_CONTROLLER = "kueue-dra.dev/nobody"
LEFTOVERS = 60.0
"""Seconds for the namespace controller to delete what a run has left."""
KINDS = {
    "batch/v1": ("Job",),
    KUEUE: (
        "Workload",
        "LocalQueue",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "WorkloadPriorityClass",
        "AdmissionCheck",
    ),
    "node.k8s.io/v1": ("RuntimeClass",),
    "resource.k8s.io/v1": (
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "DeviceClass",
    ),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "v1": ("LimitRange", "Namespace"),
}
"""The kinds of objects that a run may leave behind."""


class CannotServe(ClusterError):
    """A cluster lacks something that the cases need; ``missing`` names everything."""

    def __init__(self, *, context: str, missing: Sequence[str]) -> None:
        lines = "\n".join(f"  - {line}" for line in missing)
        super().__init__(
            f"the cluster of context {context} cannot serve these cases:\n{lines}"
        )
        self.missing = tuple(missing)


class CleanupFailed(ClusterError):
    """Some objects of the run are still in the user's cluster; the message gives the commands that delete them."""

    def __init__(self, *, context: str, left: Sequence[Ref], why: str) -> None:
        commands = "\n".join(f"  {removal_of(ref, context)}" for ref in left)
        super().__init__(
            f"some objects could not be deleted ({why}); to delete them:\n{commands}"
        )
        self.left = tuple(left)


@dataclass(slots=True, kw_only=True)
class AttachedKueue:
    """The Kueue of an existing cluster: its configuration is read, never changed."""

    context: str
    minor: str
    objects: APIClient
    is_checked: bool = False
    """Whether the cases were chosen for this Kueue, so that it serves each of them."""
    _found: ClusterFacts | None = None

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Check that the cluster's own Configuration serves the cases; `CannotServe` names everything that it lacks."""
        if self.is_checked:
            return ()
        if missing := lacks(self.found(), dict(configuration), self.minor):
            raise CannotServe(context=self.context, missing=missing)
        return ()

    def check(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Check a Configuration with a local Kueue of the same minor: the user's own is not restarted."""
        named = os.environ.get(KUEUE_VARIABLE)
        return check(
            Path(named) if named else program(release(self.minor).component),
            configuration,
        )

    def describe(self) -> Manifest:
        """Give the version of Kueue."""
        return {"kueue": f"v{self.found().version}"}

    def metrics(self) -> str:
        """Give no metrics: the user decides which clients may read them."""
        return ""

    def log(self) -> str:
        """Give no log: it is the user's."""
        return ""

    def permit(self, rules: Sequence[Manifest]) -> None:
        """Refuse to change the role: it is the user's."""
        raise NotOwned(ROLE)

    def is_denied(self) -> bool:
        """Whether Kueue lacks permissions: never, or the check of the cluster would have failed."""
        return False

    def found(self) -> ClusterFacts:
        """Read the facts about the cluster's Kueue, once."""
        self._found = self._found or ClusterFacts.read(self.objects)
        return self._found


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedPlane:
    """The user's cluster as a live target needs it."""

    api: ApiClient
    kueue: AttachedKueue

    def objects(self, limits: WaitLimits) -> APIClient:
        """Give a client for the cluster's objects."""
        return APIClient(api=self.api, limits=limits)

    @property
    def pauses(self) -> Pauses:
        """The delays of a Kueue of that minor."""
        return release_of_any(self.kueue.minor).pauses


class AttachedTarget(LiveTarget):
    """Kueue in the user's own cluster as a target; every object that it creates has the label of its run."""

    def __init__(
        self,
        context: str,
        minor: str,
        *,
        kubeconfig: Path | None = None,
        facts: ClusterFacts | None = None,
        run: str = "",
        limits: WaitLimits | None = None,
    ) -> None:
        """Connect to a cluster; with ``facts`` its Kueue is known, and the cases were chosen for it."""
        self.context = context
        self.run = run or a_run()
        api = client_of(context, kubeconfig)
        limits = limits or limits_of(os.environ)
        kueue = AttachedKueue(
            context=context,
            minor=minor,
            objects=APIClient(api=api, limits=limits),
            is_checked=facts is not None,
            _found=facts,
        )
        super().__init__(
            AttachedPlane(api=api, kueue=kueue),
            limits=limits,
            labels={RUN_LABEL: self.run},
        )

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object or replace its spec; Jobs run no pods, because the cases only check admission."""
        return super().apply([_without_pods(each) for each in manifests])

    def clean(self) -> None:
        """Delete what was applied since the last clean-up; an error gives the commands for the rest."""
        with self._reporting_remains():
            super().clean()

    def stop(self) -> None:
        """Delete everything that this run created; an error gives the commands for the rest."""
        with self._reporting_remains():
            super().stop()

    def left(self) -> list[Ref]:
        """Name every object that carries the label of this run."""
        return left_of(self._objects, self.run)

    @contextlib.contextmanager
    def _reporting_remains(self) -> Iterator[None]:
        try:
            yield
        except (TimedOut, RequestRejected) as trouble:
            raise CleanupFailed(
                context=self.context, left=self.left(), why=str(trouble)
            ) from trouble


@contextlib.contextmanager
def attached(
    context: str,
    configuration: Manifest,
    minor: str,
    *,
    limits: WaitLimits | None = None,
) -> Iterator[AttachedTarget]:
    """Use the cluster of a context as a target, and delete all own objects at the end.

    ``configuration`` is what the cases need, and ``minor`` the Kueue that they are for, such as ``0.19``.

    Raises:
        ClusterError: no such context, or `CannotServe`; at the end, `CleanupFailed`.

    """
    target = AttachedTarget(context, minor, limits=limits)
    target.start(configuration)
    with stopping(target):
        yield target


@contextlib.contextmanager
def stopping(target: AttachedTarget) -> Iterator[None]:
    """Delete all objects of a target at the end, after Ctrl-C too; an error gives the commands for the rest."""
    try:
        yield
    finally:
        target.stop()


def a_run() -> str:
    """Give a value of the label for the objects of one run."""
    return secrets.token_hex(4)


def left_of(objects: APIClient, run: str) -> list[Ref]:
    """Name every object that carries the label of a run."""
    left: list[Ref] = []
    kinds = [(version, kind) for version in KINDS for kind in KINDS[version]]
    for version, kind in kinds:
        # A kind that the user may not list, this run could not create either.
        with contextlib.suppress(RequestRejected):
            found = objects.list(version, kind, labels=f"{RUN_LABEL}={run}")
            left += map(Ref.of, found)
    return left


def remove_leftovers(objects: APIClient, run: str, context: str) -> None:
    """Delete what a process of a run that ended early has left.

    Raises:
        CleanupFailed: some of it cannot be deleted; the message gives the commands.

    """

    def gone() -> None:
        left = _with_workloads(objects, left_of(objects, run))
        # A namespace goes last: as long as it is there, what belongs to the run can be found by it.
        inside = [ref for ref in left if ref.kind != "Namespace"]
        for ref in inside or left:
            objects.delete(ref)
        if left:
            raise NotYet(f"still there: {', '.join(map(str, left))}")

    try:
        eventually(
            gone,
            within=LEFTOVERS,
            every=0.2,
            at_most=1.0,
            what="objects of the run to be gone",
        )
    except TimedOut as trouble:
        left = left_of(objects, run)
        raise CleanupFailed(context=context, left=left, why=str(trouble)) from trouble


def _with_workloads(objects: APIClient, left: list[Ref]) -> list[Ref]:
    """Add the Workloads in the namespaces of a run, which Kueue creates without its label."""
    homes = {ref.name for ref in left if ref.kind == "Namespace"}
    workloads = objects.list(KUEUE, "Workload") if homes else []
    known = set(left)
    found = [*left]
    for ref in map(Ref.of, workloads):
        if ref.namespace in homes and ref not in known:
            found.append(ref)
    return found


def _without_pods(manifest: Manifest) -> Manifest:
    """Set a ``managedBy`` of a Job that no controller has, as is possible since Kubernetes 1.32."""
    if manifest["kind"] != "Job":
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "managedBy": NO_CONTROLLER}}


def client_of(context: str, kubeconfig: Path | None = None) -> ApiClient:
    """Connect to the cluster of a context; ``KUBECONFIG`` names the file as for kubectl, unless one is given."""
    file = _file_of(kubeconfig)
    try:
        known = [each["name"] for each in config.list_kube_config_contexts(file)[0]]  # type: ignore[no-untyped-call] # ships no types
    except config.ConfigException as trouble:
        raise ClusterError(
            f"context {context}: no kubeconfig could be read ({trouble})"
        ) from None
    if context not in known:
        names = ", ".join(sorted(known)) or "none"
        raise ClusterError(
            f"context {context}: found none of that name in the kubeconfig, it has: {names}"
        )
    client: ApiClient = config.new_client_from_config(file, context=context)  # type: ignore[no-untyped-call] # ships no types
    return client


def _file_of(kubeconfig: Path | None) -> str | None:
    return str(kubeconfig) if kubeconfig else None


def current_context(kubeconfig: Path | None = None) -> str:
    """Give the current context of the kubeconfig.

    Raises:
        ClusterError: there is no kubeconfig, or it has no current context.

    """
    try:
        current = config.list_kube_config_contexts(_file_of(kubeconfig))[1]  # type: ignore[no-untyped-call] # ships no types
    except config.ConfigException as trouble:
        raise ClusterError(f"no kubeconfig could be read ({trouble})") from None
    return str(current["name"])


def removal_of(ref: Ref, context: str) -> str:
    """Give the command that removes one object."""
    place = f" -n {ref.namespace}" if ref.namespace else ""
    group = ref.api_version.rpartition("/")[0]
    kind = f"{ref.kind.lower()}.{group}" if group else ref.kind.lower()
    return f"kubectl --context {context} delete {kind} {ref.name}{place}"
