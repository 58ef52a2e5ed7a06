"""Options and reading of the commands that look at a vendor's files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_vendor import reading
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.files import DESCRIPTOR, KNOWN_FINDINGS
from kueue_dra_vendor.known import KnownFinding

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


def context_of(
    paths: Sequence[Path],
    configuration: Path | None,
    kubernetes: str,
    descriptor: Path | None = None,
    *,
    has_mapping: bool = True,
) -> VendorContext:
    """Read a vendor's files, the mapping and the descriptor.

    Raises:
        CliError: a file cannot be read, there is nothing to check, or Kueue would refuse the mapping.

    """
    try:
        return reading.context_of(
            paths, configuration, kubernetes, descriptor, has_mapping=has_mapping
        )
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
