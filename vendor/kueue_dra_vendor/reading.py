"""Reads everything that a check looks at: a vendor's files, the mapping and the descriptor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.documents import DocumentError, ManifestDocument, read
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.reference.configuration_check import checked
from kueue_dra_ref.simulation.inputs import configuration_of
from kueue_dra_ref.target import FieldError, Manifest
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.files import (
    DESCRIPTOR,
    KNOWN_FINDINGS,
    Gates,
    VendorFiles,
    load,
    named_in,
)
from kueue_dra_vendor.intent import Descriptor, descriptor_of
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.known import KnownFinding, known_of

KUBERNETES_GATES = frozenset(name for each in MINORS.values() for name in each.gates)
"""The gates of Kubernetes that decide about devices, of any minor."""


class UnusableInput(Exception):
    """Files that cannot be checked; each line is one error."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorInput:
    """What a command line names."""

    paths: Sequence[Path] = ()
    kubernetes: str = "1.36"
    configuration: Path | None = None
    descriptor: Path | None = None
    gates: Gates = field(default_factory=dict)
    """Feature gates of Kubernetes; they come before those of the descriptor."""
    kueue_gates: Gates = field(default_factory=dict)
    """Feature gates of Kueue; they come before those of the descriptor and of the Configuration."""
    dump: Sequence[ManifestDocument] = ()
    """The documents of a cluster that was read already."""
    has_mapping: bool = True
    """Whether a Configuration is read."""
    insists_on_one: bool = True
    """Whether two Configurations among the files are an error; else none of them is read."""


def context_of(given: VendorInput) -> VendorContext:
    """Read a vendor's files, the mapping (unless it does not matter) and the descriptor.

    Raises:
        UnusableInput: a file cannot be read, there is nothing to check, or Kueue would refuse the mapping.

    """
    try:
        descriptor = _descriptor(given.paths, given.descriptor)
        gates, kueue_gates = _all_gates(given, descriptor)
        files = _files(given, gates)
        document = _document(files, given) if given.has_mapping else None
        return VendorContext(
            files=files,
            inventory=Inventory.of(files),
            kubernetes=given.kubernetes,
            gates=gates,
            kueue_gates=kueue_gates,
            configuration=_configuration(document, kueue_gates) if document else None,
            configuration_document=document,
            descriptor=descriptor,
        )
    except DocumentError as fault:
        raise UnusableInput([fault.worded]) from None


def _all_gates(
    given: VendorInput, descriptor: Descriptor | None
) -> tuple[Gates, Gates]:
    """Give the gates of Kubernetes and of Kueue that a descriptor and a command line set."""
    if descriptor is None:
        return given.gates, given.kueue_gates
    for name in descriptor.gates:
        if name not in KUBERNETES_GATES:
            found, expected = f"no gate {name}", nearest(name, KUBERNETES_GATES)
            path = f"kubernetesFeatureGates.{name}"
            raise descriptor.document.fault(path, found, expected)
    gates = {**descriptor.gates, **given.gates}
    return gates, {**descriptor.kueue_gates, **given.kueue_gates}


def configuration_with(manifest: Manifest, gates: Gates) -> Manifest:
    """Give a Configuration with feature gates added to its own."""
    own = manifest.get("featureGates")
    if not gates or not isinstance(own, dict | None):
        return manifest
    return {**manifest, "featureGates": {**(own or {}), **gates}}


def known_findings(
    paths: Sequence[Path], given: Path | None
) -> tuple[KnownFinding, ...]:
    """Read the known findings of a file, else of the one in a folder that was given; none where there is none.

    Raises:
        UnusableInput: the file cannot be read, or is not as its schema says.

    """
    found = given or named_in(paths, KNOWN_FINDINGS)
    try:
        return known_of(found) if found else ()
    except DocumentError as fault:
        raise UnusableInput([fault.worded]) from None


def _files(given: VendorInput, gates: Gates) -> VendorFiles:
    files = load(given.paths, given.kubernetes, gates, given.dump)
    if files.objects:
        return files
    names = ", ".join(map(str, given.paths)) or "the cluster"
    raise UnusableInput([f"{names}: {_nothing_in(files)}"])


def counted_templates(files: VendorFiles) -> str:
    """Say how many Helm templates there are."""
    number = len(files.templates)
    return "1 Helm template" if number == 1 else f"{number} Helm templates"


def _nothing_in(files: VendorFiles) -> str:
    """Say what was found instead of objects to check."""
    found = "found no object of resource.k8s.io"
    if not files.templates:
        return f"{found}; expected DeviceClasses or ResourceSlices"
    count = counted_templates(files)
    first = f"{files.templates[0].file}:{files.templates[0].line}"
    left_out = f"{count} not rendered, the first {first}"
    return f"{found}; {left_out}; expected what helm template prints"


def _descriptor(paths: Sequence[Path], given: Path | None) -> Descriptor | None:
    found = given or named_in(paths, DESCRIPTOR)
    return descriptor_of(found) if found else None


def _document(files: VendorFiles, given: VendorInput) -> ManifestDocument | None:
    """Give the Configuration of a file, else the one among the files."""
    file = given.configuration
    if file is None:
        is_one = given.insists_on_one or len(files.configurations) == 1
        return _only_configuration(files) if is_one else None
    found = configuration_of(read(file), named=True)
    if found is None:
        expected = "expected one, alone or in a ConfigMap"
        raise UnusableInput([f"{file}: found no Configuration; {expected}"])
    return found


def _only_configuration(files: VendorFiles) -> ManifestDocument | None:
    if len(files.configurations) > 1:
        first, second = files.configurations[:2]
        place = f"{second.file}:{second.line}"
        found = f"found a second Configuration, after {first.file}:{first.line}"
        raise UnusableInput([f"{place}: {found}; select one with --config"])
    return files.configurations[0] if files.configurations else None


def _configuration(document: ManifestDocument, gates: Gates) -> Configuration:
    """Read Kueue's Configuration as Kueue 0.19 reads it."""
    loaded = checked(behaviour_of(), configuration_with(document.manifest, gates))
    if isinstance(loaded, tuple):
        found: Configuration = loaded[0]
        return found
    raise UnusableInput(list(_worded(document, loaded)))


def _worded(document: ManifestDocument, errors: Sequence[FieldError]) -> Iterator[str]:
    for error in errors:
        line = document.line_of(error.field)
        yield f"{document.file}:{line}: {error}"
