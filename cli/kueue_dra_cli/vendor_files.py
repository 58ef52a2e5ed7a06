"""Reads what `kueue-dra vendor` and `kueue-dra devices` look at: a vendor's files, the mapping and the descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError, located, place_of, readable
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.reference.configuration_check import checked
from kueue_dra_ref.simulation.inputs import configuration_of
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.files import DESCRIPTOR, VendorFiles, load, named_in
from kueue_dra_vendor.intent import Descriptor, descriptor_of
from kueue_dra_vendor.inventory import Inventory

mapping_option = click.option(
    "--config",
    "configuration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Kueue's Configuration, or a ConfigMap that holds it. Default: the one among the files.",
)
descriptor_option = click.option(
    "--descriptor",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"What the vendor intends with each class. Default: {DESCRIPTOR} in a folder that is given.",
)


def context_of(
    paths: Sequence[Path],
    configuration: Path | None,
    kubernetes: str,
    descriptor: Path | None = None,
) -> VendorContext:
    """Read a vendor's files, the mapping and the descriptor.

    Raises:
        CliError: a file cannot be read, or there is nothing to check.

    """
    with readable():
        files = load(paths, kubernetes)
    if not files.objects:
        names = ", ".join(map(str, paths))
        raise CliError(
            [
                f"{names}: found no object of resource.k8s.io; expected DeviceClasses or ResourceSlices"
            ]
        )
    document = _configuration_document(files, configuration)
    return VendorContext(
        files=files,
        inventory=Inventory.of(files),
        kubernetes=kubernetes,
        configuration=_configuration(document) if document else None,
        configuration_document=document,
        descriptor=_descriptor(paths, descriptor),
    )


def _descriptor(paths: Sequence[Path], given: Path | None) -> Descriptor | None:
    found = given or named_in(paths, DESCRIPTOR)
    with readable():
        return descriptor_of(found) if found else None


def _configuration_document(
    files: VendorFiles, given: Path | None
) -> ManifestDocument | None:
    """Give the Configuration that ``--config`` names, else the one among the files."""
    if given is None:
        return _only_configuration(files)
    with readable():
        found = configuration_of(read(given))
    if found is None:
        raise CliError(
            [f"{given}: found no Configuration; expected one, alone or in a ConfigMap"]
        )
    return found


def _only_configuration(files: VendorFiles) -> ManifestDocument | None:
    if len(files.configurations) > 1:
        first, second = files.configurations[:2]
        text = f"found a second Configuration, after {first.file}:{first.line}"
        raise CliError(
            [f"{second.file}:{second.line}: {text}; select one with --config"]
        )
    return files.configurations[0] if files.configurations else None


def _configuration(document: ManifestDocument) -> Configuration:
    """Read Kueue's Configuration as Kueue 0.19 reads it."""
    loaded = checked(behaviour_of(), document.manifest)
    if isinstance(loaded, tuple):
        found: Configuration = loaded[0]
        return found
    raise CliError(located(*place_of(error, document), error) for error in loaded)
