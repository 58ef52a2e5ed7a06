"""``kueue-dra config check``: check whether Kueue starts with a Configuration, and print its mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import located, place_of, readable
from kueue_dra_cli.inputs import gates_twice, read_configuration, with_gates
from kueue_dra_cli.options import behaviour_option, gates_option, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_ref.api.configuration import Configuration, load
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import FieldError, Manifest

EPILOG = """\
\b
Examples
  kueue-dra config check kueue-config.yaml
  kueue-dra config check configmap.yaml --behaviour kep-2025-09 -o json

\b
Exit codes
  0  Kueue would start with it; prints the mapping
  1  Kueue would reject it; prints each error as FILE:LINE: FIELD: TYPE: VALUE: DETAIL
  2  the file cannot be read, or has no Configuration or several
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
    """Check whether Kueue would start with the Configuration in FILE, and print its device class mapping.

    FILE is a Configuration, or a file that holds one: a ConfigMap, values of Kueue's chart, OpenShift's Kueue object.
    --feature-gates are gates in Kueue's arguments; Kueue refuses gates both there and in its Configuration. The command
    decodes the Configuration strictly, then checks its feature gates, then applies each rule for device class mappings.
    It reports all errors of a stage together.
    """
    chosen = behaviour_of(behaviour)
    with readable():
        document = read_configuration(file)
    manifest = with_gates(document, gates)
    faults = gates_twice(document, gates) or ReferenceTarget(chosen).check(manifest)
    if output == "json":
        as_json(_as_json(document, manifest, chosen, faults))
    elif not faults:
        _print_mapping(document, manifest, chosen)
    else:
        for error in faults:
            click.echo(located(*place_of(error, document), error), err=True)
    raise SystemExit(1 if faults else 0)


def _print_mapping(
    document: ManifestDocument, manifest: Manifest, behaviour: Behaviour
) -> None:
    rows = [
        (name, device_class)
        for name, classes in _mapping(manifest, behaviour).items()
        for device_class in classes
    ]
    click.echo(f"{document.file}: {behaviour.title} starts with it")
    click.echo(
        f"device integration (gate {behaviour.integration_gate}) is {'on' if _is_on(manifest, behaviour) else 'off'}\n"
    )
    as_table(("resource of the quota", "device class"), rows)
    if behaviour.mapping_source is not MappingSource.IN_THE_CONFIGURATION:
        click.echo(f"device classes are mapped in {behaviour.mapping_source}")
    elif not rows:
        click.echo("no device class is mapped")


def _as_json(
    document: ManifestDocument,
    manifest: Manifest,
    behaviour: Behaviour,
    faults: Sequence[FieldError],
) -> dict[str, Any]:
    valid: dict[str, Any] = {"mappings": [], "integration": None}
    if not faults:
        mapping = _mapping(manifest, behaviour).items()
        rows = [
            {"name": name, "deviceClassNames": list(classes)}
            for name, classes in mapping
        ]
        valid = {
            "mappings": rows,
            "integration": {
                "gate": behaviour.integration_gate,
                "on": _is_on(manifest, behaviour),
            },
        }
    errors = [_error(document, error) for error in faults]
    return {
        "file": document.file,
        "behaviour": behaviour.name,
        "valid": not faults,
        "errors": errors,
    } | valid


def _error(document: ManifestDocument, error: FieldError) -> dict[str, Any]:
    file, line = place_of(error, document)
    place = {"file": file, "line": line or None, "field": error.field}
    return place | {"type": error.type, "value": error.value, "detail": error.detail}


def _mapping(manifest: Manifest, behaviour: Behaviour) -> Mapping[str, Sequence[str]]:
    return {
        each.name: each.device_classes for each in _loaded(manifest, behaviour).mappings
    }


def _is_on(manifest: Manifest, behaviour: Behaviour) -> bool:
    gates = effective(behaviour.gates, _loaded(manifest, behaviour).gates)
    return not isinstance(gates, tuple) and gates[behaviour.integration_gate]


def _loaded(manifest: Manifest, behaviour: Behaviour) -> Configuration:
    found = load(manifest, behaviour.versions)
    return found if isinstance(found, Configuration) else Configuration()
