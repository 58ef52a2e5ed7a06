"""Every field in the specs of Kueue's kinds is read by the reference or named as not decided, release by release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.manifests import Webhook, definitions
from kueue_dra_clusters.releases import NEWEST, RELEASES
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.simulation.unsupported_fields import NOT_DECIDED, not_decided, unknown

OLDER = {minor: () if minor == NEWEST else pytest.mark.releases for minor in RELEASES}
BESIDE_VARIANTS = {("ClusterQueue", "spec.admissionChecksStrategy")}
"""What is not decided of a ClusterQueue whose Workloads have variants, as that with every field has."""
KINDS = ("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Workload")


def filled(schema: Mapping[str, Any]) -> Any:
    """Give a value in which every field of a schema is there."""
    if "properties" in schema:
        return {key: filled(each) for key, each in schema["properties"].items()}
    return [filled(schema["items"])] if "items" in schema else {}


def everything(minor: str, *parts: str) -> Iterator[dict[str, Any]]:
    """Give an object with every field of some of its parts, for each kind and version that a release serves."""
    for definition in definitions(binaries(minor).kueue_module, Webhook(port=1, authority=b"")):
        spec = definition["spec"]
        for version in spec["versions"] if spec["names"]["kind"] in KINDS else ():
            fields = version["schema"]["openAPIV3Schema"]["properties"]
            whole = {part: filled(fields[part]) for part in parts if part in fields}
            api_version = f"{spec['group']}/{version['name']}"
            yield {"apiVersion": api_version, "kind": spec["names"]["kind"], "metadata": {}, **whole}


@pytest.mark.live
@pytest.mark.parametrize("minor", [pytest.param(minor, marks=OLDER[minor]) for minor in RELEASES])
def test_every_field_is_read_or_named(minor: str) -> None:
    """A field that is neither would be ignored silently."""
    made = list(everything(minor, "spec"))
    assert {each["kind"] for each in made} == set(KINDS)
    assert [(each["kind"], each["apiVersion"], field) for each in made for field in unknown(each)] == []


@pytest.mark.live
def test_every_field_that_is_named_is_there() -> None:
    """Each setting that the reference does not decide exists in one version or the other of the newest release."""
    objects = list(everything(NEWEST, "spec", "status"))
    kinds = {each["kind"] for each in objects}
    found = {(each["kind"], error.field.replace("[0]", "[]")) for each in objects for error in not_decided(each)}

    assert NOT_DECIDED.keys() - kinds <= JOB_KINDS.keys()  # their CRDs are not Kueue's
    always = {(kind, field) for kind, fields in NOT_DECIDED.items() if kind in kinds for field in fields}
    assert found == always | BESIDE_VARIANTS
