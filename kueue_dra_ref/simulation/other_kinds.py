"""Sorts the documents of an input: what is simulated, other work that Kueue queues, and what decides nothing.

No counterpart: inputs of the simulation. An API server knows kinds by its discovery; here they are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.configuration_documents import configurations, gates_of_values
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.queued_pods import MANAGED, POD, THROUGH_PODS
from kueue_dra_ref.api.scheme import KINDS, KUEUE
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.simulation.cron_jobs import is_cron_job, job_of, makes_jobs
from kueue_dra_ref.simulation.other_work import WORK_KINDS, queue_label
from kueue_dra_ref.simulation.running_cluster import HEAD, is_restored
from kueue_dra_ref.target import Manifest

OF_KUEUE = frozenset(
    {
        "MultiKueueCluster",
        "MultiKueueConfig",
    }
)
"""Kueue's own kinds whose decisions are not simulated."""
_CORE = """
Binding ComponentStatus ConfigMap Endpoints Event PersistentVolume PersistentVolumeClaim PodTemplate
ReplicationController ResourceQuota Secret Service ServiceAccount
"""
_WHOLE: Mapping[str, frozenset[str]] = {
    "": frozenset(_CORE.split()),
    "apps": frozenset({"ControllerRevision"}),
    "batch": frozenset(),
    KUEUE: frozenset(),
    "resource.k8s.io": frozenset({"DeviceTaintRule", "ResourcePoolStatusRequest"}),
}
"""Groups all of whose kinds are known; these kinds of them take no quota. Another kind of such a group is an error."""
_GROUPS = """
acme.cert-manager.io admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io authentication.k8s.io
authorization.k8s.io autoscaling cert-manager.io certificates.k8s.io cluster.x-k8s.io coordination.k8s.io
discovery.k8s.io events.k8s.io external-secrets.io flowcontrol.apiserver.k8s.io gateway.networking.k8s.io
helm.toolkit.fluxcd.io internal.apiserver.k8s.io karpenter.sh keda.sh kind.x-k8s.io kubeadm.k8s.io
kubelet.config.k8s.io kueue-dra.dev kustomize.config.k8s.io kustomize.toolkit.fluxcd.io metrics.k8s.io
monitoring.coreos.com networking.k8s.io nfd.k8s-sigs.io node.k8s.io notification.toolkit.fluxcd.io nvidia.com
operators.coreos.com policy rbac.authorization.k8s.io route.openshift.io scheduling.k8s.io security.openshift.io
snapshot.storage.k8s.io source.toolkit.fluxcd.io storage.k8s.io storagemigration.k8s.io visibility.kueue.x-k8s.io
"""
_QUOTA_FREE_GROUPS = frozenset(_GROUPS.split())
"""Groups whose kinds take no quota, unless `KINDS` has them."""


@dataclass(slots=True, kw_only=True)
class UnknownKind:
    """A kind that nothing here knows: the first object, how many there are, and how many name a queue."""

    first: ManifestDocument
    objects: int = 0
    labelled: int = 0


@dataclass(slots=True, kw_only=True)
class SortedDocuments:
    """The documents of an input by what becomes of them."""

    configurations: list[ManifestDocument] = field(default_factory=list)
    """Documents that hold Kueue's Configuration, or feature gates in values of its chart."""
    simulated: list[ManifestDocument] = field(default_factory=list)
    work: list[ManifestDocument] = field(default_factory=list)
    """Objects that name a queue, of kinds that the simulation does not admit."""
    cron_jobs: list[ManifestDocument] = field(default_factory=list)
    """CronJobs of which one Job is simulated."""
    of_kueue: list[ManifestDocument] = field(default_factory=list)
    quota_free: Counter[str] = field(default_factory=Counter)
    """The number of objects of each kind that take no quota."""
    unqueued: Counter[str] = field(default_factory=Counter)
    """The number of pods, and of objects that make pods, that name no queue."""
    leaves_unnamed: bool = True
    """Whether objects that name no queue get none."""
    unknown: dict[str, UnknownKind] = field(default_factory=dict)
    """By apiVersion and kind."""
    templates: list[ManifestDocument] = field(default_factory=list)
    """Files of Helm charts that are not rendered."""
    kustomizations: list[ManifestDocument] = field(default_factory=list)
    no_objects: list[ManifestDocument] = field(default_factory=list)
    """Documents that say nothing of what an object says: values, patches, data."""

    @property
    def has_objects(self) -> bool:
        """Whether anything of the input is an object, or a Configuration."""
        documents = (self.configurations, self.simulated, self.work, self.of_kueue)
        return any(documents) or any((self.quota_free, self.unqueued, self.unknown))


def sorted_documents(
    documents: Iterable[ManifestDocument], *, running: bool = False
) -> SortedDocuments:
    """Sort the documents of an input; the objects of a running cluster are right as they are."""
    given = list(documents)
    found = SortedDocuments(leaves_unnamed=not running and not _may_get_queue(given))
    for document in given:
        if document.is_template:
            found.templates.append(document)
        elif _is_kustomization(document):
            found.kustomizations.append(document)
        elif configurations([document]) or gates_of_values([document]):
            found.configurations.append(document)
        elif _is_no_object(document.manifest):
            found.no_objects.append(document)
        elif not _counts_pods(found, document.manifest, running=running):
            _sort_object(found, document, running=running)
    return found


def _sort_object(
    found: SortedDocuments, document: ManifestDocument, *, running: bool
) -> None:
    manifest = document.manifest
    group, kind = group_and_kind(manifest)
    if kind == HEAD:
        return
    if is_cron_job(group, kind) and _stands_for_jobs(manifest, running=running):
        found.cron_jobs.append(document)
        found.simulated.append(job_of(document))
    elif (group, kind) in WORK_KINDS and queue_label(manifest):
        found.work.append(document)
    elif group == KUEUE and kind in OF_KUEUE:
        found.of_kueue.append(document)
    elif _takes_no_quota(group, kind):
        found.quota_free[kind] += 1
    elif _is_simulated(group, kind, running=running):
        found.simulated.append(document)
    else:
        _count_unknown(found.unknown, document)


def _counts_pods(found: SortedDocuments, manifest: Manifest, *, running: bool) -> bool:
    """Whether an object is counted, since neither it nor its pods are queued."""
    _, kind = group_and_kind(manifest)
    if running and _is_skipped(manifest):
        found.quota_free[kind] += 1
        return True
    if found.leaves_unnamed and _names_no_queue(manifest):
        found.unqueued[kind] += 1
        return True
    return False


def _names_no_queue(manifest: Manifest) -> bool:
    """Whether an object is a pod, or makes pods, and does not name a queue for them."""
    group, kind = group_and_kind(manifest)
    known = KINDS.get(kind)
    if known is None or known.group != group:
        return False
    return (kind == POD or kind in THROUGH_PODS) and not queue_label(manifest)


def _is_skipped(manifest: Manifest) -> bool:
    """Whether an object of a running cluster is a pod that Kueue does not manage, or made pods, which decide."""
    if group_and_kind(manifest)[1] in THROUGH_PODS:
        return True
    labels = part(part(manifest, "metadata"), "labels")
    is_managed = labels.get(MANAGED) == "true"
    return _names_no_queue(manifest) and not is_managed


def _may_get_queue(documents: Sequence[ManifestDocument]) -> bool:
    """Whether objects without a queue may be queued: in a queue named default, or because Kueue manages all."""
    for document in documents:
        manifest = document.manifest
        meta = part(manifest, "metadata")
        if manifest.get("kind") == "LocalQueue" and meta.get("name") == "default":
            return True
        if manifest.get("manageJobsWithoutQueueName"):
            return True
    return False


def _stands_for_jobs(cron_job: Manifest, *, running: bool) -> bool:
    """Whether a CronJob will make Jobs that name a queue; those of a running cluster are there."""
    if running and is_restored(cron_job):
        return False
    return makes_jobs(cron_job) and bool(queue_label(cron_job))


def _takes_no_quota(group: str, kind: str) -> bool:
    if (group, kind) in WORK_KINDS or kind in _WHOLE.get(group, ()):
        return True
    known = KINDS.get(kind)
    is_simulated = known is not None and known.group == group
    return group in _QUOTA_FREE_GROUPS and not is_simulated


def _is_simulated(group: str, kind: str, *, running: bool) -> bool:
    """Whether an object is applied; one of a group that is known as a whole is rejected if its kind is not."""
    known = KINDS.get(kind)
    if known is not None and known.group == group:
        return True
    if running:
        return False
    if not kind:
        return True
    return group in _WHOLE


def _count_unknown(unknown: dict[str, UnknownKind], document: ManifestDocument) -> None:
    version = document.manifest.get("apiVersion")
    kind = document.manifest.get("kind")
    name = f"{version} {kind}"
    counted = unknown.setdefault(name, UnknownKind(first=document))
    counted.objects += 1
    if queue_label(document.manifest):
        counted.labelled += 1


def group_and_kind(manifest: Manifest) -> tuple[str, str]:
    """Give the API group and the kind of a manifest that may be malformed."""
    group, _, _ = str(manifest.get("apiVersion") or "").rpartition("/")
    return group, str(manifest.get("kind") or "")


def _is_no_object(manifest: Manifest) -> bool:
    """Whether a document is not meant as an object: it has neither apiVersion, kind nor metadata."""
    if manifest.get("kind") == "Configuration":
        return True
    if not any(key in manifest for key in ("apiVersion", "kind", "metadata")):
        return True
    return _is_chart_file(manifest)


def _is_chart_file(manifest: Manifest) -> bool:
    """Whether a document is Helm's Chart.yaml."""
    is_typed = "kind" in manifest or "metadata" in manifest
    return not is_typed and manifest.get("apiVersion") in ("v1", "v2")


def _is_kustomization(document: ManifestDocument) -> bool:
    """Whether a document is kustomize's: a kustomization, a component or a transformer."""
    if document.manifest.get("apiVersion") == "builtin":
        return True
    if document.manifest.get("kind") in ("Kustomization", "Component"):
        group, _ = group_and_kind(document.manifest)
        return group in ("", "kustomize.config.k8s.io")
    name = document.file.rpartition("/")[2]
    return name.startswith("kustomization.y") and "kind" not in document.manifest
