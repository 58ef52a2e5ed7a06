"""``kueue-dra config check``: whether Kueue would start with a Configuration, and what it maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError, located, place_of, readable
from kueue_dra_cli.inputs import with_gates
from kueue_dra_cli.options import behaviour_option, gates_option, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_ref.api.configuration import Configuration, load
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import configuration_of
from kueue_dra_ref.target import FieldError, Manifest

EPILOG = """\
\b
Examples
  kueue-dra config check kueue-config.yaml
  kueue-dra config check configmap.yaml --behaviour kep-2025-09 -o json

\b
Exit codes
  0  Kueue would start with it; the mapping is printed
  1  Kueue would refuse it; every fault is printed as FILE:LINE: FIELD: TYPE: VALUE: DETAIL
  2  the file cannot be read, or holds no Configuration or several
"""


@click.group("config")
def command() -> None:
    """Check a Kueue Configuration."""


@command.command("check", epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@behaviour_option
@gates_option
@output_option("table", "json")
def check(file: Path, behaviour: str, gates: Mapping[str, bool], output: str) -> None:
    """Say whether Kueue would start with the Configuration in FILE, and print its device class mapping.

    FILE is a Configuration or a ConfigMap that holds one. It is decoded strictly, its feature gates are checked, then
    every rule for device class mappings; all faults of a stage are told together.
    """
    judge = behaviour_of(behaviour)
    document = _configuration(file)
    manifest = with_gates(document, gates)
    faults = ReferenceTarget(judge).check(manifest)
    if output == "json":
        as_json(_as_json(document, manifest, judge, faults))
    elif not faults:
        _print_mapping(document, manifest, judge)
    else:
        for error in faults:
            click.echo(located(*place_of(error, document), error), err=True)
    raise SystemExit(1 if faults else 0)


def _configuration(file: Path) -> ManifestDocument:
    with readable():
        found = configuration_of(read(file))
    if found is None:
        raise CliError(
            [f"{file}: found no Configuration; expected one, alone or in a ConfigMap"]
        )
    return found


def _print_mapping(
    document: ManifestDocument, manifest: Manifest, judge: Behaviour
) -> None:
    rows = [
        (name, device_class)
        for name, classes in _mapping(manifest, judge).items()
        for device_class in classes
    ]
    click.echo(f"{document.file}: {judge.title} starts with it")
    click.echo(
        f"device integration (gate {judge.integration_gate}) is {'on' if _is_on(manifest, judge) else 'off'}\n"
    )
    as_table(("resource of the quota", "device class"), rows)
    if judge.mapping_source is not MappingSource.IN_THE_CONFIGURATION:
        click.echo(f"device classes are mapped in {judge.mapping_source}")
    elif not rows:
        click.echo("no device class is mapped")


def _as_json(
    document: ManifestDocument,
    manifest: Manifest,
    judge: Behaviour,
    faults: Sequence[FieldError],
) -> dict[str, Any]:
    valid: dict[str, Any] = {"mappings": [], "integration": None}
    if not faults:
        mapping = _mapping(manifest, judge).items()
        rows = [
            {"name": name, "deviceClassNames": list(classes)}
            for name, classes in mapping
        ]
        valid = {
            "mappings": rows,
            "integration": {
                "gate": judge.integration_gate,
                "on": _is_on(manifest, judge),
            },
        }
    errors = [_error(document, error) for error in faults]
    return {
        "file": document.file,
        "behaviour": judge.name,
        "valid": not faults,
        "errors": errors,
    } | valid


def _error(document: ManifestDocument, error: FieldError) -> dict[str, Any]:
    file, line = place_of(error, document)
    place = {"file": file, "line": line or None, "field": error.field}
    return place | {"type": error.type, "value": error.value, "detail": error.detail}


def _mapping(manifest: Manifest, judge: Behaviour) -> Mapping[str, Sequence[str]]:
    return {
        each.name: each.device_classes for each in _loaded(manifest, judge).mappings
    }


def _is_on(manifest: Manifest, judge: Behaviour) -> bool:
    gates = effective(judge.gates, _loaded(manifest, judge).gates)
    return not isinstance(gates, tuple) and gates[judge.integration_gate]


def _loaded(manifest: Manifest, judge: Behaviour) -> Configuration:
    found = load(manifest, judge.versions)
    return found if isinstance(found, Configuration) else Configuration()
