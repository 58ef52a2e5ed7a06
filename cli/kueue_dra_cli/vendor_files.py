"""Options and reading of the commands that look at a vendor's files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kueue_dra_cli.cluster_source import cluster_documents, cluster_options
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.kubernetes_gates import unusable
from kueue_dra_cli.options import feature_gates_option, kubernetes_option
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_vendor import reading
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.files import DESCRIPTOR, KNOWN_FINDINGS, Gates
from kueue_dra_vendor.known import KnownFinding
from kueue_dra_vendor.reading import KUBERNETES_GATES, VendorInput

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
known_option = click.option(
    "--known",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"Findings that are accepted, with reasons. Default: {KNOWN_FINDINGS} in a folder that is given.",
)


files_argument = click.argument(
    "paths",
    nargs=-1,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="[FILE|DIR]...",
)
vendor_gates_option = feature_gates_option(
    "--feature-gates",
    "kueue_gates",
    text="Feature gates of Kueue, on top of those in the Configuration and the descriptor.",
)
vendor_kubernetes_gates_option = feature_gates_option(
    "--kubernetes-feature-gates",
    "gates",
    text="Feature gates of that API server that an administrator changed, on top of those in the descriptor.",
)


def input_options(
    *, has_mapping: bool = True, has_minor: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that say what is read; the command gets one `VendorInput`, named ``given``."""
    options = [
        files_argument,
        cluster_options,
        *([mapping_option] if has_mapping else []),
        descriptor_option,
        *([kubernetes_option] if has_minor else []),
        vendor_kubernetes_gates_option,
        vendor_gates_option,
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def called(**values: Any) -> None:
            command(given=_input(values, has_mapping=has_mapping), **values)

        for option in reversed(options):
            called = option(called)
        return called

    return decorated


def _input(values: dict[str, Any], *, has_mapping: bool) -> VendorInput:
    """Take the options out of the values of a command."""
    paths = values.pop("paths")
    dump = cluster_documents(values.pop("context"), values.pop("kubeconfig"))
    if not paths and not dump:
        raise click.UsageError("no files: give files or folders, or --context")
    minor = values.pop("kubernetes", None) or VendorInput().kubernetes
    gates = values.pop("gates")
    selected = _selected_minor(dump, minor)
    _insist_on_gates(gates, selected, is_one="kubernetes" in _parameters())
    return VendorInput(
        paths=paths,
        kubernetes=selected,
        configuration=values.pop("configuration", None),
        descriptor=values.pop("descriptor"),
        gates=gates,
        kueue_gates=values.pop("kueue_gates"),
        dump=dump,
        has_mapping=has_mapping,
    )


def _parameters() -> set[str | None]:
    command = click.get_current_context().command
    return {each.name for each in command.params}


def _selected_minor(dump: Sequence[ManifestDocument], minor: str) -> str:
    """Give the minor of a cluster that was read, unless the command line names one."""
    source = click.get_current_context().get_parameter_source("kubernetes")
    if not dump or source is ParameterSource.COMMANDLINE:
        return minor
    found = running_cluster(dump).kubernetes
    return found if found in MINORS else minor


def _insist_on_gates(gates: Gates, minor: str, *, is_one: bool) -> None:
    """Refuse a gate that the minor does not have; that no minor has, where every minor is asked."""
    if is_one:
        if wrong := unusable(MINORS[minor], gates):
            raise CliError([f"--kubernetes-feature-gates: {wrong}"])
        return
    for name in gates:
        if name not in KUBERNETES_GATES:
            text = f"--kubernetes-feature-gates: {name}: no Kubernetes has such a gate for devices"
            raise CliError([f"{text}; {nearest(name, KUBERNETES_GATES)}"])


def context_of(given: VendorInput) -> VendorContext:
    """Read a vendor's files, the mapping and the descriptor.

    Raises:
        CliError: a file cannot be read, there is nothing to check, or Kueue would refuse the mapping.

    """
    try:
        return reading.context_of(given)
    except reading.UnusableInput as fault:
        raise CliError(fault.lines) from None


def known_of(paths: Sequence[Path], given: Path | None) -> tuple[KnownFinding, ...]:
    """Read the known findings.

    Raises:
        CliError: the file cannot be read, or is not as its schema says.

    """
    try:
        return reading.known_findings(paths, given)
    except reading.UnusableInput as fault:
        raise CliError(fault.lines) from None
