"""Whether a minor of Kubernetes serves the version of resource.k8s.io that a release of Kueue reads.

No counterpart: Kueue skips devices that the API server does not serve, and admits nothing that asks for them.
"""

from __future__ import annotations

from kueue_dra_ref.apiserver import MINORS, Kubernetes
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import REGISTRY
from kueue_dra_ref.reference.configuration_check import checked
from kueue_dra_ref.target import Manifest


def unserved(
    behaviour: Behaviour, configuration: Manifest, kubernetes: Kubernetes
) -> str:
    """Say that Kueue cannot read devices from this Kubernetes; empty if it can, or does not read them."""
    reads = _version_read_by(behaviour.name)
    if not reads or reads in kubernetes.served:
        return ""
    found = checked(behaviour, configuration)
    if isinstance(found, tuple):
        _, gates = found
        if not gates.get(behaviour.integration_gate, True):
            return ""
    first = next(each.name for each in MINORS.values() if reads in each.served)
    served = ", ".join(sorted(kubernetes.served))
    return (
        f"{behaviour.title} reads resource.k8s.io/{reads}, and Kubernetes {kubernetes.name} serves only {served}; "
        f"expected Kubernetes {first} or later, or the gate {behaviour.integration_gate} off"
    )


def _version_read_by(name: str) -> str:
    for release in REGISTRY:
        if release.name == name:
            return release.reads
    return ""
