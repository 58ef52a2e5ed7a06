"""What a target decides about each demo of a vendor, under a mapping and queues that fit its devices.

The target is the reference or a real Kueue; both get the same objects, so that the two answers can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.conditions import is_true, message_of
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.simulation.explanation import outcome
from kueue_dra_ref.target import FieldError, Manifest, Ref, Rejection, Target
from kueue_dra_ref.verdict import Admitted, Verdict, verdict
from kueue_dra_vendor.demos import Demo, submitted
from kueue_dra_vendor.files import VendorFiles, in_a_namespace
from kueue_dra_vendor.mapping import KUEUE

STORED = ("DeviceClass", "ResourceSlice", "ResourceClaimTemplate", "ResourceClaim")
"""Kinds of resource.k8s.io in the order in which they are created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """What a target decided about one demo, or why it did not create it."""

    demo: str
    """Namespace and name of the Job; work of other kinds with its kind before."""
    verdict: Verdict | None = None
    """None if the API server or a webhook rejects it."""
    message: str = ""
    """Kueue's words about a Workload that is not admitted, or the rejection."""

    @property
    def word(self) -> str:
        """The verdict in one word."""
        return outcome(self.verdict)[0] if self.verdict else "rejected"

    @property
    def amounts(self) -> dict[str, str]:
        """What is charged by resource; empty if the demo is not admitted."""
        return dict(self.verdict.usage) if isinstance(self.verdict, Admitted) else {}

    def agrees(self, other: DemoAnswer) -> bool:
        """Tell whether another target decided the same; messages are not compared."""
        return self.verdict == other.verdict


class MappingRefused(Exception):
    """Kueue does not start with the Configuration."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorAnswer:
    """What a target answered to everything that a vendor publishes."""

    rejections: tuple[Rejection, ...]
    """Objects other than demos that it rejected."""
    demos: tuple[DemoAnswer, ...]


def answer(
    target: Target,
    files: VendorFiles,
    configuration: Manifest,
    queues: Sequence[Manifest],
) -> VendorAnswer:
    """Apply classes, slices, templates and queues, then each demo alone: quota that it took is free for the next.

    A Job is submitted as it is, in the queue `QUEUE` if it names none. For work of another kind, whose controllers may
    not be there, a Workload with one pod of each of its pod templates takes its place.

    The target keeps what was applied; `Target.clean` removes it.

    Raises:
        MappingRefused: Kueue does not start with the Configuration.
        NotQuiescent: a demo does not settle.

    """
    if errors := target.start(configuration):
        raise MappingRefused(errors)
    objects = list(_objects(files, queues))
    missing = [each for each in objects if not _exists(target, each)]
    rejections = target.apply(missing)
    demos = [_decided(target, each) for each in submitted(files)]
    return VendorAnswer(rejections=tuple(rejections), demos=tuple(demos))


def _objects(files: VendorFiles, queues: Sequence[Manifest]) -> Iterator[Manifest]:
    """Give everything but work; a namespace of the files replaces a generated one."""
    given = [each.manifest for each in files.others]
    namespaces = [each for each in given if each.get("kind") == "Namespace"]
    named = {each["metadata"]["name"] for each in namespaces}
    yield from namespaces
    for each in queues:
        if each["kind"] != "Namespace" or each["metadata"]["name"] not in named:
            yield each
    for kind in STORED:
        yield from (in_a_namespace(each.document.manifest) for each in files.of(kind))


def _exists(target: Target, manifest: Manifest) -> bool:
    """Whether it is a namespace that every cluster has, such as default."""
    if manifest["kind"] != "Namespace":
        return False
    ref = Ref.of(manifest)
    return target.read(ref) is not None


def _decided(target: Target, demo: Demo) -> DemoAnswer:
    ref = Ref.of(demo.manifest)
    if rejected := target.apply([demo.manifest]):
        return DemoAnswer(demo=demo.title, message=rejected[0].message)
    target.settle()
    found = target.read(ref) if ref.kind == "Workload" else _workload(target, ref)
    target.delete([ref])
    target.settle()
    if found is None:
        return DemoAnswer(demo=demo.title, message="Kueue creates no Workload")
    return DemoAnswer(demo=demo.title, verdict=verdict(found), message=_message(found))


def _workload(target: Target, job: Ref) -> Manifest | None:
    found = target.list(KUEUE, "Workload", job.namespace)
    for each in found:
        names = [owner.get("name") for owner in owners_of(each)]
        if job.name in names:
            return each
    return None


def _message(workload: Manifest) -> str:
    """Give why a Workload is pending; empty if it holds quota."""
    if is_true(workload, "QuotaReserved"):
        return ""
    return message_of(workload, "QuotaReserved")
