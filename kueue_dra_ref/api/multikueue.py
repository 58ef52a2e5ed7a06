"""MultiKueue's objects: the clusters of a check, the Secret of a cluster, and the copies of work on workers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.crd_validation import drop
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.api.jobs import JOB_UID
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.queued_pods import PREBUILT
from kueue_dra_ref.target import Manifest

CONTROLLER = "kueue.x-k8s.io/multikueue"
"""The controller of MultiKueue's AdmissionChecks, and what ``managedBy`` of dispatched work names."""
ORIGIN = "kueue.x-k8s.io/multikueue-origin"
"""The label of everything that a manager creates on a worker."""
CONFIG, CLUSTER, SECRET = "MultiKueueConfig", "MultiKueueCluster", "Secret"
_RUN_POLICY = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")
MANAGED_BY: Mapping[str, tuple[str, ...]] = {
    "Job": ("spec", "managedBy"),
    "JobSet": ("spec", "managedBy"),
    **dict.fromkeys(_RUN_POLICY, ("spec", "runPolicy", "managedBy")),
}
"""The kinds of work that a manager of the reference dispatches, and the field of each that names what manages it."""


def is_multikueue(check: Manifest | None) -> bool:
    """Whether MultiKueue is the controller of an AdmissionCheck."""
    return check is not None and check["spec"].get("controllerName") == CONTROLLER


def is_from_manager(obj: Manifest) -> bool:
    """Whether a manager has created an object on a worker."""
    labels = labels_of(obj)
    return ORIGIN in labels


def config_of(check: Manifest) -> str:
    """Name the MultiKueueConfig of an AdmissionCheck; empty if it names none."""
    parameters = check["spec"].get("parameters") or {}
    return str(parameters.get("name", "")) if parameters.get("kind") == CONFIG else ""


def clusters_of(config: Manifest) -> Sequence[str]:
    """Name the clusters of a MultiKueueConfig, in its order."""
    return [str(each) for each in config["spec"].get("clusters") or ()]


def secret_of(cluster: Manifest) -> str:
    """Name the Secret with the kubeconfig of a MultiKueueCluster."""
    spec = cluster["spec"]
    source = spec.get("clusterSource") or spec
    return str((source.get("kubeConfig") or {}).get("location", ""))


def kubeconfig_in(secret: Manifest) -> str:
    """Give the kubeconfig in a Secret; empty if it has none that can be read."""
    data = secret.get("data") or {}
    written = data.get("kubeconfig", "")
    try:
        return base64.b64decode(written).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def managed_by(job: Manifest) -> str:
    """Name what manages work; empty for its own controller."""
    found: Any = job
    for key in MANAGED_BY.get(job["kind"], ("spec", "managedBy")):
        found = found.get(key) or {}
    return str(found or "")


def workload_copy(workload: Manifest, origin: str) -> Manifest:
    """Give the copy of a Workload for a worker: without its status, its owner and the UID of its Job."""
    meta = workload["metadata"]
    labels = {**labels_of(workload), ORIGIN: origin}
    labels.pop(JOB_UID, None)
    return {
        "apiVersion": workload["apiVersion"],
        "kind": workload["kind"],
        "metadata": {**_kept(meta), "labels": labels},
        "spec": copied(workload["spec"]),
    }


def work_copy(job: Manifest, workload: str, origin: str) -> Manifest:
    """Give the copy of work for a worker: it names the copy of its Workload, and the worker runs it."""
    meta = job["metadata"]
    labels = {**labels_of(job), ORIGIN: origin}
    annotations = {**annotations_of(job), PREBUILT: workload}
    made: Manifest = {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "metadata": {**_kept(meta), "labels": labels, "annotations": annotations},
        "spec": copied(job["spec"]),
    }
    made["spec"].pop("selector", None)
    drop(made, ".".join(MANAGED_BY[job["kind"]]))
    return made


def _kept(meta: Manifest) -> Manifest:
    names = ("name", "namespace", "labels", "annotations")
    return {key: copied(meta[key]) for key in names if key in meta}


def seconds_in(document: Manifest, key: str, default: float) -> float:
    """Give a duration of the section multiKueue of a Configuration, such as 15m, in seconds."""
    section = document.get("multiKueue") or {}
    written = section.get(key)
    if written is None:
        return default
    return abs(seconds(str(written)))
